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

// interrupt is the command interrupt SIGNAL FILE TEXT PROGRAM [ARG]...: it runs a program in a process group of its own,
// as a shell does, and sends the signal to the group when FILE holds TEXT.
// It ends with the program's exit code, or 128 and the signal's number where a signal ended it.
func interrupt() {
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[os.Args[1]]
	file, text := os.Args[2], os.Args[3]
	signal.Ignore(syscall.SIGTTOU)
	var stderr bytes.Buffer
	cmd := exec.Command(os.Args[4], os.Args[5:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, &stderr
	if hold := os.Getenv("HOLD_STDIN"); hold != "" {
		r, w, err := os.Pipe() // a stdin that stays open and says nothing, as a terminal where nobody types
		if err != nil {
			panic(err)
		}
		defer w.Close()
		cmd.Stdin = r
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if seen, _ := os.ReadFile(file); bytes.Contains(seen, []byte(text)) {
			break
		}
		if len(ended) > 0 {
			break
		}
	}
	_ = syscall.Kill(-cmd.Process.Pid, sig)
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
