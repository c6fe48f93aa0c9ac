// SIGINT, SIGTERM and SIGHUP as something to poll for, so that a run ends with valid files.
#pragma once

namespace hakmem::harness {

/// Catches the three signals from now on and ignores SIGPIPE and SIGXFSZ (writes then fail with
/// EPIPE and EFBIG, which are reported). May be called once.
void install_signals();

/// Readable once a signal has come; stays readable.
int signal_fd();

/// The first signal that came, or 0. Further ones change nothing.
int caught_signal();

}  // namespace hakmem::harness
