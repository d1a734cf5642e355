"""Ends calls of policies in Python that take too long, or after Ctrl-C.

A thread looks once in a while at what the other threads run. If one of them has been in the same call of
a watched method for longer than its limit, an exception is raised in that thread. The module takes back
one that the call did not live to see, so that it does not strike what runs next. Where the program's
handler notes Ctrl-C and SIGTERM in the place of Python's, this thread passes them on.
"""

import sys
import threading
import time

from . import _kvcheck

__all__ = ["watch"]

_limits = {}  # by code of a method: its name and limit in seconds
_thread = None


def watch(method, name, seconds):
    """Raises a TimeoutError in calls of the method that take longer. Python raises it between two of its
    own instructions, so a call of C that does not return is not ended."""
    global _thread
    code = getattr(method, "__code__", None)
    if code is None:
        return  # it is no function of Python
    _limits[code] = (name, seconds)
    if _thread is None or not _thread.is_alive():  # a forked child has no threads
        _thread = threading.Thread(target=_look, name="kvcheck watch", daemon=True)
        _thread.start()


def _look():
    since = {}  # by thread: the frame of the call that it is in, and when that was first seen
    while True:
        time.sleep(min([0.5] + [seconds / 4 for _, seconds in _limits.values()]))
        now, calls = time.monotonic(), {}
        for thread, frame in sys._current_frames().items():
            call = _watched(frame)
            if call is None:
                continue
            before = since.get(thread)
            calls[thread] = before if before and before[0] is call else (call, now)
            name, seconds = _limits[call.f_code]
            if _kvcheck.interrupted():
                _kvcheck.raise_in_call(thread, KeyboardInterrupt)
            elif now - calls[thread][1] > seconds:
                _raise_in(thread, "%s has run for more than %g s; its class may allow more in `seconds`"
                          % (name, seconds))
                del calls[thread]
        since = calls
        frame = call = before = None  # they would keep alive what the calls hold


def _watched(frame):
    while frame is not None and frame.f_code not in _limits:
        frame = frame.f_back
    return frame


def _raise_in(thread, sentence):
    # Python makes the exception of the class, without arguments.
    raised = type("TimeoutError", (TimeoutError,), {"__str__": lambda self: sentence})
    _kvcheck.raise_in_call(thread, raised)
