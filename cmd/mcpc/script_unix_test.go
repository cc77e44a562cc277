//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func init() {
	programs["interrupt"] = interrupt
	syscall.Umask(0o022) // files of transcripts are nobody else's to write, whatever the umask of whoever runs them
}

// alive reports whether a process exists and is more than an entry that its parent has not collected.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// interrupt is the command interrupt SIGNAL FILE TEXT PROGRAM [ARG]...: it runs a program in a process group of its
// own, as a shell does, and sends the signal to the group when FILE holds TEXT; TWICE is SIGINT again and again. Where
// FILE is "stdin" the program gets a stdin that does not end, as a terminal where nobody types, and the signal comes
// when it has begun to read that. The command ends with the program's exit code, or 128 and the signal's number where a
// signal ended it.
func interrupt() {
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "TWICE": syscall.SIGINT}[os.Args[1]]
	file, text := os.Args[2], os.Args[3]
	signal.Ignore(syscall.SIGTTOU)
	var stderr bytes.Buffer
	cmd := exec.Command(os.Args[4], os.Args[5:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, &stderr
	await := func() bool { seen, _ := os.ReadFile(file); return bytes.Contains(seen, []byte(text)) }
	if file == "stdin" {
		await = fed(cmd)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if await() || len(ended) > 0 {
			break
		}
	}
	_ = syscall.Kill(-cmd.Process.Pid, sig)
	for os.Args[1] == "TWICE" && len(ended) == 0 { // two that come at once are one
		time.Sleep(20 * time.Millisecond)
		_ = syscall.Kill(-cmd.Process.Pid, sig)
	}
	select {
	case <-ended:
	case <-time.After(15 * time.Second):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		fmt.Fprintln(os.Stderr, "interrupt: the program went on")
		os.Exit(99)
	}
	_, _ = os.Stderr.Write(stderr.Bytes())
	state := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if state.Signaled() {
		os.Exit(128 + int(state.Signal()))
	}
	os.Exit(state.ExitStatus())
}

// fed gives a program a stdin that does not end, and returns whether the program has read from it: more is written than
// a pipe holds.
func fed(cmd *exec.Cmd) func() bool {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd.Stdin = r
	done := make(chan struct{})
	go func() {
		_, _ = w.Write(bytes.Repeat([]byte(" "), 128<<10))
		close(done)
		select {} // w stays open
	}()
	return func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
}
