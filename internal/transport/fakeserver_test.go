package transport

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpc/internal/config"
)

const fakeServerArg = "fake-stdio-server"

// The fake server does the steps of its script, one a line: a verb, then what it needs.
//
//	read              read one line of stdin
//	eof               read stdin to its end
//	expect TEXT       read one line, which must hold TEXT; else exit 99
//	write TEXT        write TEXT to stdout; a Go string literal without its quotes
//	file PATH         write a file to stdout
//	fill N            write N times the letter a to stdout
//	notes N           write N notifications of about 100 bytes
//	flood             write to stdout for ever
//	stderr N          write N bytes to stderr, whose last are "the end"
//	env               write the environment as a result for id 1
//	args              write the further arguments as a result for id 1
//	ignore-term       ignore SIGTERM
//	orphan ADDRESS    start a child that ignores SIGTERM, holds the pipes and keeps a connection to ADDRESS
//	connect ADDRESS   keep a connection to ADDRESS
//	close-stdout      close stdout
//	close-stdin       close stdin
//	hang              wait longer than any test
//	kill-self         die of SIGKILL
//	exit N            end with that code; without it the code is 0 at the end of the script
func fakeServer(script string, args []string) int {
	f := &fake{in: bufio.NewReader(os.Stdin), args: args}
	for step := range strings.SplitSeq(script, "\n") {
		verb, operand, _ := strings.Cut(strings.TrimSpace(step), " ")
		if code, done := f.do(verb, operand); done {
			return code
		}
	}
	return 0
}

type fake struct {
	in    *bufio.Reader
	args  []string
	conns []net.Conn
}

func (f *fake) do(verb, operand string) (code int, done bool) {
	switch verb {
	case "read":
		_, _ = f.in.ReadString('\n')
	case "eof":
		_, _ = io.Copy(io.Discard, f.in)
	case "expect":
		line, err := f.in.ReadString('\n')
		if err != nil || !strings.Contains(line, operand) {
			return 99, true
		}
	case "exit":
		code, _ = strconv.Atoi(operand)
		return code, true
	case "hang":
		time.Sleep(time.Minute) // not for ever, should the test itself be killed
		return 96, true
	case "kill-self":
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
	case "connect":
		c, err := net.Dial("tcp", operand)
		if err != nil {
			return 98, true
		}
		f.conns = append(f.conns, c)
	case "orphan":
		return 97, !f.orphan(operand)
	case "close-stdout":
		_ = os.Stdout.Close()
	case "close-stdin":
		_ = os.Stdin.Close()
	default:
		f.write(verb, operand)
	}
	return 0, false
}

func (f *fake) orphan(address string) bool {
	cmd := exec.Command(os.Args[0], fakeServerArg, "ignore-term\nconnect "+address+"\nhang")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Start() == nil
}

func (f *fake) write(verb, operand string) {
	n, _ := strconv.Atoi(operand)
	switch verb {
	case "write":
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(operand, `"`, `\"`) + `"`)
		if err != nil {
			panic(operand)
		}
		_, _ = os.Stdout.WriteString(text)
	case "file":
		data, _ := os.ReadFile(operand)
		_, _ = os.Stdout.Write(data)
	case "fill":
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("a"), n))
	case "notes":
		for i := range n {
			fmt.Printf(`{"jsonrpc":"2.0","method":"n/%d","params":{"x":"%s"}}`+"\n", i, strings.Repeat("y", 50))
		}
	case "flood":
		for chunk := bytes.Repeat([]byte("a"), 1<<16); ; {
			if _, err := os.Stdout.Write(chunk); err != nil {
				return
			}
		}
	case "stderr":
		_, _ = os.Stderr.Write(append(bytes.Repeat([]byte("e"), n-7), "the end"...))
	case "env":
		fmt.Printf(`{"jsonrpc":"2.0","id":1,"result":{"is":%q}}`+"\n", strings.Join(os.Environ(), " "))
	case "args":
		fmt.Printf(`{"jsonrpc":"2.0","id":1,"result":{"is":%q}}`+"\n", strings.Join(f.args, "|"))
	case "", "#":
	default:
		panic(verb)
	}
}

// fakeOptions returns options that run the script. Steps are joined by line ends.
func fakeOptions(t testing.TB, steps ...string) StdioOptions {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := &config.Server{
		Stdio:  &config.Stdio{Command: []string{self, fakeServerArg, strings.Join(steps, "\n")}},
		Limits: config.DefaultLimits(),
	}
	// On Windows no program starts without it; elsewhere it is not set and not listed.
	if _, ok := os.LookupEnv("SYSTEMROOT"); ok {
		server.Stdio.Env = []string{"SYSTEMROOT"}
	}
	return StdioOptions{Server: server, LookupEnv: os.LookupEnv}
}

// dialFake starts the script; the carrier is closed with the test.
func dialFake(t testing.TB, o StdioOptions) *stdio {
	t.Helper()
	c, err := DialStdio(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c.(*stdio)
}
