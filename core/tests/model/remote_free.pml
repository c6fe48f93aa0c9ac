/* Remote frees, the end of a thread, and adoption (core/front/remote.cpp, thread.cpp, slabs.cpp).
 *
 * One slab, two fronts. Senders free blocks of the slab; the thread of front 0 ends at some point; a
 * second thread on front 1 may adopt the slab; a third may take front 0 over whole and end again.
 * Checked in every interleaving: the slab is on one queue at most, a front is worked on by one thread
 * at most, and when nothing runs any more every freed block has come back to the slab.
 */
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef BLOCKS
#define BLOCKS 1 /* freed by each sender */
#endif

#define ACTIVE 1
#define ABANDONED 2
#define HELD 3

byte state[2];   /* Front::state */
bool queued[2];  /* the slab is on Front::queue */
byte owner;      /* the slab's route */
byte remote;     /* length of Slab::remote */
byte returned;   /* blocks taken in */
byte working[2]; /* threads inside drain or adoption of a front */
byte senders_left = SENDERS;
bool first_ended, taker_ended;

inline enqueue(front) {
  atomic { assert(!queued[0] && !queued[1]); queued[front] = true }
}

inline enter(front) { atomic { assert(working[front] == 0); working[front]++ } }
inline leave(front) { working[front]-- }

/* try_hold: one compare-and-swap */
inline try_hold(front, got) {
  atomic {
    if
    :: state[front] == ABANDONED -> state[front] = HELD; got = true
    :: else -> got = false
    fi
  }
}

/* take: exchange of the queue's head; then of the slab's remote list, or the slab is passed on. */
inline drain(front, took, done) {
  atomic { took = queued[front]; queued[front] = false };
  if
  :: took ->
     if
     :: owner == front -> atomic { returned = returned + remote; remote = 0 }
     :: else -> run notify_owner(done); done ? _
     fi
  :: else
  fi
}

/* release_hold: abandoned again, then one more look at the queue. */
inline release_hold(front, took, got, done) {
  do
  :: state[front] = ABANDONED;
     if
     :: !queued[front] -> break
     :: else ->
        try_hold(front, got);
        if
        :: !got -> break
        :: else -> enter(front); drain(front, took, done); leave(front)
        fi
     fi
  od
}

/* Recursive in the program, so a process here that its caller waits for. */
proctype notify_owner(chan back) {
  byte front; bool took, got;
  chan done = [0] of { bit };
  front = owner;
  enqueue(front);
  if
  :: state[front] == ABANDONED ->
     try_hold(front, got);
     if
     :: got -> enter(front); drain(front, took, done); leave(front);
               release_hold(front, took, got, done)
     :: else
     fi
  :: else
  fi;
  back ! 1
}

proctype sender() {
  byte i; bool was_empty;
  chan done = [0] of { bit };
  for (i : 1 .. BLOCKS) {
    atomic { was_empty = remote == 0; remote++ };
    if
    :: was_empty -> run notify_owner(done); done ? _
    :: else
    fi
  };
  senders_left--
}

/* A thread on front 0: drains on its slow paths, then ends. */
inline live_and_end(took, got, done) {
  do
  :: enter(0); drain(0, took, done); leave(0)
  :: break
  od;
  enter(0); drain(0, took, done); leave(0);
  state[0] = HELD;
  release_hold(0, took, got, done)
}

proctype first() {
  bool took, got;
  chan done = [0] of { bit };
  live_and_end(took, got, done);
  first_ended = true
}

/* take_over: a new thread on the abandoned front, which then ends too. */
proctype taker() {
  bool took, got;
  chan done = [0] of { bit };
  if
  :: true -> skip
  :: atomic { state[0] == ABANDONED -> state[0] = ACTIVE };
     live_and_end(took, got, done)
  fi;
  taker_ended = true
}

/* The thread on front 1: may adopt the slab, drains, and looks once more when all is quiet. */
proctype adopter() {
  bool took, got;
  chan done = [0] of { bit };
  if
  :: true -> skip
  :: first_ended ->
     try_hold(0, got);
     if
     :: got ->
        enter(0);
        drain(0, took, done);
        if
        :: owner == 0 -> owner = 1
        :: else
        fi;
        leave(0);
        release_hold(0, took, got, done)
     :: else
     fi
  fi;
  do
  :: enter(1); drain(1, took, done); leave(1)
  :: senders_left == 0 && first_ended && taker_ended -> break
  od;
  enter(1); drain(1, took, done); leave(1);
  assert(remote == 0 && returned == SENDERS * BLOCKS)
}

init {
  byte i;
  atomic {
    state[0] = ACTIVE;
    state[1] = ACTIVE;
    run first();
    run taker();
    run adopter();
    for (i : 1 .. SENDERS) { run sender() }
  }
}
