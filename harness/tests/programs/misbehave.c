/* A program that behaves in one of many ways that benchmark harnesses have met in public.
 *
 *   misbehave WAY [NUMBER]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static void sleep_ms(long ms) {
  const struct timespec span = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&span, NULL);
}

/* Ignores what can be ignored, in a session of its own, with the pipes of its parent open. */
static void stubborn_grandchild(void) {
  fflush(NULL);
  if (fork() != 0) return;
  setsid();
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  if (fork() == 0) {
    for (;;) pause();
  }
  for (;;) pause();
}

static void show_arguments(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) printf("<%s>\n", argv[i]);
}

static void flood(long mebibytes) {
  static char block[65536];
  memset(block, 'x', sizeof block);
  for (long i = 0; i < mebibytes * 16; ++i) fwrite(block, 1, sizeof block, stdout);
}

/* Keeps the CPU busy and the heap in use, so that every allocator has something to report. */
static void work(long ms) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    for (size_t size = 16; size < 2048; size += 16) free(malloc(size));
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  const long number = argc > 2 ? atol(argv[2]) : 0;
  if (strcmp(way, "work") == 0) {
    work(number);
    puts("worked");
  } else if (strcmp(way, "exit") == 0) {
    work(50);
    fputs("going with a code\n", stderr);
    return (int)number;
  } else if (strcmp(way, "crash") == 0) {
    fputs("about to crash\n", stderr);
    raise(SIGSEGV);
  } else if (strcmp(way, "crash-on-file") == 0) {
    work(50);
    if (access(argv[2], F_OK) == 0) abort();
  } else if (strcmp(way, "hang") == 0) {
    signal(SIGTERM, SIG_IGN);
    puts("hanging");
    fflush(stdout);
    for (;;) pause();
  } else if (strcmp(way, "hang-with-grandchild") == 0) {
    stubborn_grandchild();
    for (;;) pause();
  } else if (strcmp(way, "leave-grandchild") == 0) {
    work(50);
    stubborn_grandchild();
    sleep_ms(20);
  } else if (strcmp(way, "rubbish") == 0) {
    work(50);
    fputs("\xff\xfe\x00 {\"hakbench\": \n\n[[[", stdout);
  } else if (strcmp(way, "random") == 0) {
    work(50);
    printf("%d\n", (int)getpid());
  } else if (strcmp(way, "flood") == 0) {
    work(50);
    flood(number);
  } else if (strcmp(way, "arguments") == 0) {
    work(50);
    show_arguments(argc, argv);
  } else if (strcmp(way, "environment") == 0) {
    work(50);
    for (char** line = environ; *line != NULL; ++line) fprintf(stderr, "%s\n", *line);
    return 1; /* a run that failed keeps its output */
  } else {
    fprintf(stderr, "misbehave: no such way: %s\n", way);
    return 2;
  }
  return 0;
}
