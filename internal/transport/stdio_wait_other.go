//go:build !linux

package transport

// awaitExit returns false at once: only Linux can wait for the end of a process without reaping it.
func awaitExit(int) bool { return false }
