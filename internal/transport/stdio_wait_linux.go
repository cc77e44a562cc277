package transport

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitExit returns true when the process ended, and leaves it to be reaped: until then its number, which is also that
// of its group, is not given to another process. It returns false when it cannot wait so.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
