package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

func init() { programs["tty"] = onTerminals }

// openTTY returns both ends of a new pseudo-terminal that changes no byte.
func openTTY() (ours, theirs *os.File, err error) {
	if ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	raw := int(ours.Fd())
	if err := unix.IoctlSetPointerInt(raw, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(raw, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	_, err = term.MakeRaw(int(theirs.Fd()))
	return ours, theirs, err
}

// onTerminals is the command tty PROGRAM [ARG]...: it runs a program whose stdout and stderr are terminals, one each,
// and gives out what arrives on them.
func onTerminals() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin = os.Stdin
	out, endOut := copyTTY(os.Stdout)
	stderr, endErr := copyTTY(os.Stderr)
	cmd.Stdout, cmd.Stderr = out, stderr
	err := cmd.Run()
	endOut()
	endErr()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	} else if err != nil {
		panic(err)
	}
}

// copyTTY returns a terminal whose output goes to w, and what ends the copying after all of it.
func copyTTY(w io.Writer) (tty *os.File, end func()) {
	ours, theirs, err := openTTY()
	if err != nil {
		panic(err)
	}
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(w, ours) // ends with EIO when the last writer has closed
		close(done)
	}()
	return theirs, func() {
		_ = theirs.Close()
		<-done
		_ = ours.Close()
	}
}

func TestTTYChangesNoByte(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	got := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		got <- string(b)
	}()
	tty, end := copyTTY(w)
	want := "a\nb\r\t\x1b[31m\x7f\u202e"
	_, _ = io.WriteString(tty, want)
	end()
	_ = w.Close()
	if s := <-got; s != want {
		t.Errorf("%q became %q", want, s)
	}
}
