/* hak-spawn: starts one process for the harness and reaps it with everything it left behind.
 *
 * Why a program of its own: the peak RSS that wait4 reports survives exec, so the measured process
 * must be forked from something smaller than any workload. This one is static and stays below
 * 1 MiB. It adopts orphans (PR_SET_CHILD_SUBREAPER), so that grandchildren in sessions of their own
 * can be found and killed.
 *
 *   hak-spawn CPULIST COMMAND [ARGUMENT...]     CPULIST: "1" or "0,1"
 *
 * fd 3, control, read:  'g' lets the child exec; 'k', or end of file, kills everything
 * fd 4, report, written, one line each:
 *   pid N                       the child exists and waits, pinned, for 'g'
 *   started                     exec worked
 *   exec ERRNO                  exec failed, nothing runs
 *   exit STATUS WALL_NS USER_US SYSTEM_US MAXRSS_KIB MINFLT MAJFLT NVCSW NIVCSW
 *   done LEFT                   everything is dead; LEFT processes had outlived the child
 *
 * The environment of the child is that of hak-spawn. Exits 0; 1 where the protocol is broken.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { control_fd = 3, report_fd = 4, max_processes = 4096 };

static char line[256];
static size_t line_length;

static void put_text(const char* text) {
  while (*text != '\0' && line_length < sizeof line) line[line_length++] = *text++;
}

static void put_number(int64_t value) {
  char digits[24];
  size_t count = 0;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    digits[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  put_text(value < 0 ? " -" : " ");
  while (count > 0 && line_length < sizeof line) line[line_length++] = digits[--count];
}

static void send_line(void) {
  put_text("\n");
  if (write(report_fd, line, line_length) < 0) { /* the harness is gone: fd 3 will say so */
  }
  line_length = 0;
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void pin(const char* list) {
  cpu_set_t set;
  CPU_ZERO(&set);
  while (*list != '\0') {
    char* end;
    const unsigned long cpu = strtoul(list, &end, 10);
    if (end == list) break;
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
    list = *end == ',' ? end + 1 : end;
  }
  if (CPU_COUNT(&set) > 0) sched_setaffinity(0, sizeof set, &set);
}

/* The child: waits for 'g', then becomes the command. Says on error_fd why it could not. */
static void become(char** command, const char* cpus, int go_fd, int error_fd) {
  sigset_t none;
  char byte;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  pin(cpus);
  if (read(go_fd, &byte, 1) == 1) {
    execvp(command[0], command);
    const int error = errno;
    if (write(error_fd, &error, sizeof error) < 0) { /* the parent is gone */
    }
  }
  _exit(127);
}

/* Parent of a process, from /proc/PID/stat; 0 where it is gone. */
static pid_t parent_of(pid_t pid, int* zombie) {
  char path[32] = "/proc/";
  char text[512];
  size_t length = 6;
  char digits[16];
  size_t count = 0;
  for (pid_t rest = pid; rest != 0; rest /= 10) digits[count++] = (char)('0' + rest % 10);
  while (count > 0) path[length++] = digits[--count];
  memcpy(path + length, "/stat", 6);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return 0;
  text[size] = '\0';
  const char* after_name = strrchr(text, ')'); /* the name may hold anything */
  if (after_name == NULL || after_name[1] != ' ') return 0;
  *zombie = after_name[2] == 'Z';
  return (pid_t)strtol(after_name + 3, NULL, 10);
}

static pid_t pids[max_processes];
static pid_t parents[max_processes];

/* Sends SIGKILL to every descendant that lives now; gives how many there were. */
static int kill_descendants(void) {
  int count = 0;
  int killed = 0;
  DIR* const proc = opendir("/proc");
  if (proc == NULL) return 0;
  for (struct dirent* entry; (entry = readdir(proc)) != NULL && count < max_processes;) {
    const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    int zombie = 0;
    if (pid <= 1 || pid == getpid()) continue;
    const pid_t parent = parent_of(pid, &zombie);
    if (parent == 0 || zombie) continue;
    pids[count] = pid;
    parents[count++] = parent;
  }
  closedir(proc);
  for (int changed = 1; changed;) { /* grow the set of those whose parent is in it */
    changed = 0;
    for (int i = 0; i < count; ++i) {
      int mine = parents[i] == getpid();
      for (int j = 0; j < count && !mine && parents[i] > 0; ++j) {
        mine = parents[j] < 0 && pids[j] == parents[i];
      }
      if (parents[i] > 0 && mine) {
        parents[i] = -1;
        kill(pids[i], SIGKILL);
        ++killed;
        changed = 1;
      }
    }
  }
  return killed;
}

static void report_exit(int status, int64_t wall, const struct rusage* usage) {
  put_text("exit");
  put_number(status);
  put_number(wall);
  put_number((int64_t)usage->ru_utime.tv_sec * 1000000 + usage->ru_utime.tv_usec);
  put_number((int64_t)usage->ru_stime.tv_sec * 1000000 + usage->ru_stime.tv_usec);
  put_number(usage->ru_maxrss);
  put_number(usage->ru_minflt);
  put_number(usage->ru_majflt);
  put_number(usage->ru_nvcsw);
  put_number(usage->ru_nivcsw);
  send_line();
}

/* Reaps what has ended. Reports the child's end; gives 0 once no descendant is left. */
static int reap(pid_t child, int64_t start) {
  for (;;) {
    int status;
    struct rusage usage;
    const pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    if (pid == child) report_exit(status, now_ns() - start, &usage);
    if (pid == 0) return 1;
    if (pid < 0) return 0;
    if (pid == child) return 2;
  }
}

/* Kills and reaps until nothing is left; gives how many had outlived the child. */
static int finish(pid_t child, int64_t start) {
  int left = 0;
  for (int alive = 1; alive != 0;) {
    const int killed = kill_descendants();
    if (left == 0) left = killed;
    const struct timespec pause = {0, 2000000};
    nanosleep(&pause, NULL);
    while ((alive = reap(child, start)) == 2) {
    }
  }
  return left;
}

int main(int argc, char** argv) {
  int go[2];
  int error[2];
  sigset_t signals;
  if (argc < 3 || pipe2(go, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0) return 1;
  fcntl(control_fd, F_SETFD, FD_CLOEXEC);
  fcntl(report_fd, F_SETFD, FD_CLOEXEC);
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGPIPE);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int ended = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);

  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) become(argv + 2, argv[1], go[0], error[1]);
  close(go[0]);
  close(error[1]);
  put_text("pid");
  put_number(child);
  send_line();

  struct pollfd sources[3] = {{control_fd, POLLIN, 0}, {ended, POLLIN, 0}, {error[0], POLLIN, 0}};
  int64_t start = now_ns();
  int left = 0;
  int alive = 1;
  while (alive == 1) {
    if (poll(sources, 3, -1) < 0 && errno != EINTR) return 1;
    if (sources[0].revents != 0) {
      char command = 'k';
      if (read(control_fd, &command, 1) != 1) command = 'k';
      if (command != 'g') break;
      start = now_ns();
      if (write(go[1], "g", 1) != 1) break;
    }
    if (sources[2].revents != 0) {
      int reason = 0;
      const ssize_t size = read(error[0], &reason, sizeof reason);
      put_text(size == (ssize_t)sizeof reason ? "exec" : "started");
      if (size == (ssize_t)sizeof reason) put_number(reason);
      send_line();
      sources[2].fd = -1;
    }
    if (sources[1].revents != 0) {
      struct signalfd_siginfo info;
      while (read(ended, &info, sizeof info) > 0) {
      }
      alive = reap(child, start);
    }
  }
  if (alive == 2) alive = reap(child, start); /* the usual case: nothing outlived the child */
  if (alive != 0) left = finish(child, start);
  put_text("done");
  put_number(left);
  send_line();
  return 0;
}
