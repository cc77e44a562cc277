package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func init() { programs["typing"] = typingPerson }

// typingPerson is the command typing PROGRAM [ARG]...: it is pasting at a terminal, whose stdin is something else.
func typingPerson() {
	ours, theirs, err := openTTY()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	_ = theirs.Close()
	lines := bufio.NewReader(ours)
	for {
		line, err := lines.ReadString('\n')
		_, _ = os.Stderr.WriteString(line)
		if strings.HasPrefix(line, "http://") {
			_, _ = io.WriteString(ours, notLoaded(strings.TrimSpace(line))+"\n")
		}
		if err != nil {
			break // EIO, when the program has closed it
		}
	}
	_ = cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}
