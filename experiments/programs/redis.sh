#!/bin/sh
# redis-server under the allocator of the arm, driven by redis-benchmark over loopback. This shell
# becomes the server, so that the process which is measured and looked at is the server's own; the
# drivers run beside it without a preload. Prints what the data must look like in the end.
set -eu

port=$((20000 + $$ % 40000))

drive() {
  unset LD_PRELOAD HAKMEM_REPORT HAKMEM_STRICT
  cli="redis-cli -h 127.0.0.1 -p $port"
  tries=0
  until [ "$($cli ping 2>/dev/null)" = PONG ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] || exit 1
    sleep 0.02
  done
  $cli debug populate 100000 filled 100
  redis-benchmark -h 127.0.0.1 -p "$port" -q -c 20 -P 16 -n 100000 -d 200 \
    -t set,get,incr,lpush,rpush,lpop,sadd,hset,zadd,mset >/dev/null
  echo "keys $($cli dbsize)"
  echo "list $($cli llen mylist)"
  echo "digest $($cli debug digest)"
  $cli flushall
  $cli shutdown nosave
}

drive <&- 2>/dev/null &
# A process title is written over the environment, where the allocator has its report's path.
exec redis-server --bind 127.0.0.1 --port "$port" --save '' --appendonly no --daemonize no \
  --set-proc-title no \
  --enable-debug-command yes --logfile /dev/null --dir "${TMPDIR:-/tmp}"
