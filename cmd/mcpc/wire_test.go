package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	fromServer = '<'
	fromClient = '>'
)

// wire records the frames between mcpc and a server, on a path of its own, as they pass.
type wire struct {
	mu     sync.Mutex
	all    []string // the direction, then the frame
	broken int      // requests whose client went away
	news   chan struct{}
}

func (w *wire) record(direction byte, frame []byte) {
	if frame = bytes.TrimSpace(frame); len(frame) == 0 {
		return
	}
	w.mu.Lock()
	w.all = append(w.all, string(direction)+string(frame))
	w.mu.Unlock()
	w.tell()
}

func (w *wire) tell() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// frames returns what went in one direction so far.
func (w *wire) frames(direction byte) (frames [][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all {
		if one[0] == direction {
			frames = append(frames, []byte(one[1:]))
		}
	}
	return frames
}

func (w *wire) hungUp() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken > 0
}

// await waits until it is so.
func (w *wire) await(so func() bool) bool {
	late := time.After(20 * time.Second)
	for !so() {
		select {
		case <-w.news:
		case <-late:
			return false
		}
	}
	return true
}

// tap returns the command, in JSON, that runs a server on stdio with its frames recorded here.
func (w *wire) tap(f *field, command []string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	f.must(err)
	f.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.read(c)
		}
	}()
	tapped, err := exec.LookPath("tap")
	f.must(err)
	words := []string{quoted(tapped), quoted(l.Addr().String())}
	for _, word := range command {
		words = append(words, quoted(word))
	}
	return strings.Join(words, ",")
}

// read takes what a tap reports, and confirms each frame: it goes on only when it is recorded.
func (w *wire) read(c net.Conn) {
	defer c.Close()
	lines := bufio.NewReader(c)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		w.record(line[0], line[1:])
		if _, err := c.Write([]byte{'\n'}); err != nil {
			return
		}
	}
}

func init() { programs["tap"] = tapMain }

// tapMain runs the server of its arguments between its own stdin and stdout.
func tapMain() {
	server := exec.Command(os.Args[2], os.Args[3:]...)
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := server.Start(); err != nil {
		panic(err)
	}
	go func() {
		report(fromClient, os.Stdin, in)
		_ = in.Close()
	}()
	report(fromServer, out, os.Stdout)
	_ = server.Wait()
}

// report passes lines on, each after it was recorded.
func report(direction byte, from io.Reader, to io.Writer) {
	recorder, err := net.Dial("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	lines, confirmed := bufio.NewReader(from), make([]byte, 1)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		_, _ = recorder.Write(append([]byte{direction}, line...))
		_, _ = recorder.Read(confirmed)
		if _, err := to.Write(line); err != nil {
			return
		}
	}
}

// proxy starts a server that listens and returns the URL of a proxy before it, where its frames are recorded.
func (w *wire) proxy(f *field, command []string) string {
	cmd := exec.CommandContext(f.Context(), command[0], command[1:]...)
	out, err := cmd.StdoutPipe()
	f.must(err)
	f.must(cmd.Start())
	f.Cleanup(func() { _ = cmd.Wait() }) // the context has ended by then
	line, err := bufio.NewReader(out).ReadString('\n')
	f.must(err)
	target, err := url.Parse(strings.TrimSuffix(strings.TrimSpace(line), "/mcp"))
	f.must(err)
	p := httputil.NewSingleHostReverseProxy(target)
	p.FlushInterval = -1
	p.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {}
	p.ModifyResponse = func(r *http.Response) error {
		r.Body = &recorded{ReadCloser: r.Body, w: w, events: strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream")}
		return nil
	}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.record(fromClient, body)
		stop := context.AfterFunc(r.Context(), func() {
			w.mu.Lock()
			w.broken++
			w.mu.Unlock()
			w.tell()
		})
		defer stop()
		defer func() { _ = recover() }() // of the proxy, when its client has gone
		p.ServeHTTP(rw, r)
	}))
	f.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// recorded is the body of an answer, recorded while it is read.
type recorded struct {
	io.ReadCloser
	w      *wire
	events bool
	rest   []byte
}

func (r *recorded) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.rest = append(r.rest, p[:n]...)
	for r.events {
		line, after, whole := bytes.Cut(r.rest, []byte("\n"))
		if !whole {
			break
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			r.w.record(fromServer, data)
		}
		r.rest = after
	}
	if err != nil && !r.events {
		r.w.record(fromServer, r.rest)
		r.rest = nil
	}
	return n, err
}
