package transport

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// drainGrace bounds the wait for the rest of a pipe whose process ended, should a process outside the group hold it.
const drainGrace = 200 * time.Millisecond

// child is a server process with its group and its three pipes. Four goroutines serve it: one waits for its end, and
// one each moves stdin, stdout and stderr.
type child struct {
	cmd    *exec.Cmd
	group  group
	stdin  *os.File
	stdout *os.File
	errors *os.File
	stderr *tail

	lines  chan inbound   // from stdout; closed at its end
	out    chan *outgoing // to stdin
	exited chan struct{}  // closed when the process is reaped and its group killed
	quit   chan struct{}  // closed when the child is to end
	pumps  sync.WaitGroup

	queue []*outgoing // not yet handed to stdin; the exchange's own
	heard bool        // a message came; the exchange's own

	signals   sync.Mutex
	disbanded bool

	ending sync.Once
	ended  *Failure
}

// outgoing is one line for stdin. What came of it is set when done is closed.
type outgoing struct {
	method string // for the trace; "" for a reply
	line   []byte
	n      int
	err    error
	done   chan struct{}
}

func newOutgoing(method string, frame []byte) *outgoing {
	return &outgoing{method: method, line: append(frame, '\n'), done: make(chan struct{})}
}

func (o *outgoing) frame() []byte { return o.line[:len(o.line)-1] }

// startChild starts the server in a process group of its own, with exactly the environment that is listed.
func startChild(s *config.Stdio, l config.Limits, lookup func(string) (string, bool)) (*child, *refusal.Refusal) {
	env, no := environment(s.Env, lookup)
	if no != nil {
		return nil, no
	}
	path, no := newSearch(lookup).find(s.Command[0])
	if no != nil {
		return nil, no
	}
	c := &child{
		cmd:    &exec.Cmd{Path: path, Args: s.Command, Env: env, Dir: s.Cwd},
		stderr: &tail{limit: int(l.StderrBytes)},
		lines:  make(chan inbound),
		out:    make(chan *outgoing),
		exited: make(chan struct{}),
		quit:   make(chan struct{}),
	}
	if err := c.start(); err != nil {
		no := refusal.New(refusal.TransportStart, refusal.Own("command", s.Command[0]))
		return nil, no.Hint("the file must be executable, its interpreter present, and cwd a folder")
	}
	living.Store(c, nil)
	go c.wait()
	go c.write(l.Request)
	c.pumps.Go(func() { c.read(l.FrameBytes) })
	c.pumps.Go(func() { _, _ = io.Copy(c.stderr, draining{c.errors, c.exited}) })
	return c, nil
}

// living holds the children that are not reaped.
var living sync.Map

// KillChildren ends every server process and its group at once, for a program that will not wait for their closing.
func KillChildren() {
	living.Range(func(c, _ any) bool {
		c.(*child).disband()
		return true
	})
}

// start makes the pipes and the process. The pipes are our own files, so that waiting for the process never waits for
// a grandchild that holds them.
func (c *child) start() (err error) {
	var theirs [3]*os.File
	var ours [3]*os.File
	defer func() {
		closeAll(theirs[:])
		if err != nil {
			closeAll(ours[:])
		}
	}()
	if theirs[0], ours[0], err = os.Pipe(); err != nil {
		return err
	}
	for i := 1; i <= 2; i++ {
		if ours[i], theirs[i], err = os.Pipe(); err != nil {
			return err
		}
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	c.stdin, c.stdout, c.errors = ours[0], ours[1], ours[2]
	return c.group.start(c.cmd)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// wait ends the group as soon as its leader ended: what is left then are orphans. After the leader is reaped the
// group's number may belong to others, so from there on nothing is signalled.
func (c *child) wait() {
	if awaitExit(c.cmd.Process.Pid) {
		c.disband()
	}
	_ = c.cmd.Wait()
	c.disband()
	living.Delete(c)
	close(c.exited)
	last := time.Now().Add(drainGrace)
	_ = c.stdout.SetReadDeadline(last)
	_ = c.errors.SetReadDeadline(last)
}

// write hands lines to stdin, each within the limit.
func (c *child) write(limit time.Duration) {
	for {
		select {
		case o := <-c.out:
			_ = c.stdin.SetWriteDeadline(time.Now().Add(limit))
			o.n, o.err = c.stdin.Write(o.line)
			close(o.done)
		case <-c.quit:
			return
		}
	}
}

// read cuts stdout into lines. A line that nobody takes holds the next one back, and in the end the server; but once
// the child is to end nothing holds it back.
func (c *child) read(limit int64) {
	defer close(c.lines)
	stdout := draining{c.stdout, c.exited}
	r := newLineReader(stdout, limit)
	for {
		line, err := r.next()
		if err != nil {
			return
		}
		select {
		case c.lines <- line:
		case <-c.quit:
			_, _ = io.Copy(io.Discard, stdout)
			return
		}
		if line.over {
			return
		}
	}
}

// draining reads a pipe to its end, or, once the process ended, for as long as something is there.
type draining struct {
	file   *os.File
	exited <-chan struct{}
}

func (d draining) Read(p []byte) (int, error) {
	select {
	case <-d.exited:
		_ = d.file.SetReadDeadline(time.Now().Add(drainGrace))
	default:
	}
	return d.file.Read(p)
}

// next returns the head of the queue and where to send it; a nil channel when there is nothing to send.
func (c *child) next() (chan<- *outgoing, *outgoing) {
	if len(c.queue) == 0 {
		return nil, nil
	}
	return c.out, c.queue[0]
}

// settle says whether any of the line was written, and whether all of it was. A line that is only partly through is
// cut off there by closing stdin; one that waits is taken back.
func (c *child) settle(o *outgoing) (sent, complete bool) {
	if i := slices.Index(c.queue, o); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
		return false, true
	}
	select {
	case <-o.done:
	default:
		c.closeStdin()
		<-o.done
	}
	return o.n > 0, o.n == len(o.line)
}

func (c *child) closeStdin() { _ = c.stdin.Close() }

// disband ends what is left of the group, once.
func (c *child) disband() {
	c.signal(c.group.kill)
	c.signals.Lock()
	c.disbanded = true
	c.signals.Unlock()
}

// signal sends to the group if it is still ours.
func (c *child) signal(send func()) {
	c.signals.Lock()
	defer c.signals.Unlock()
	if !c.disbanded {
		send()
	}
}

func (c *child) exitedWithin(d time.Duration) bool {
	select {
	case <-c.exited:
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.exited:
		return true
	case <-timer.C:
		return false
	}
}

// end ends the process and its group within the limit: two fifths of it for the end of stdin to do it, two fifths for
// SIGTERM, and the rest for SIGKILL. Later calls wait for the first and return the same.
func (c *child) end(limit time.Duration) error {
	c.ending.Do(func() {
		c.closeStdin()
		close(c.quit)
		gone := c.exitedWithin(limit * 2 / 5)
		if !gone {
			c.signal(c.group.terminate)
			gone = c.exitedWithin(limit * 2 / 5)
		}
		if !gone {
			c.signal(c.group.kill)
			gone = c.exitedWithin(limit / 5)
		}
		if gone {
			c.pumps.Wait()
			c.group.release()
		} else {
			no := refusal.New(refusal.TransportSurvivor, refusal.Own("command", c.cmd.Args[0]))
			c.ended = &Failure{Refusal: no}
		}
		closeAll([]*os.File{c.stdout, c.errors})
	})
	if c.ended != nil {
		return c.ended
	}
	return nil
}
