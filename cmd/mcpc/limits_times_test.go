package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
)

// The probes of deadlines: a peer that is in time (n is 0), and one that never answers (n is endless).

// slow is a step of a child that never comes to its end.
const slow = "wait 3600000"

// waits is a reply, or silence.
func waits(n int64, say reply) reply {
	if n == endless {
		return silent()
	}
	return say
}

func playStart(f *field, carrier, set string, _, n int64) ended {
	if carrier == "connection" {
		f.http(f.serve(modern().with(replies{
			"server/discover": waits(n, result(discoverBody)), "initialize": silent(),
		})).url, `"limits":{`+set+`,"probe_ms":100}`)
		return f.run("discover", "s")
	}
	script := modernChild()
	if n == endless {
		script[atStart] = []string{slow}
	}
	f.child(script, nil, `"limits":{`+set+`,"probe_ms":100,"shutdown_ms":100}`)
	return f.run("discover", "s")
}

// playProbe goes on to initialize when the probe is not answered.
func playProbe(f *field, carrier, set string, limit, n int64) ended {
	want := `"protocol":"2026-07-28"`
	base, script := legacy(), legacyChild()
	base["server/discover"] = waits(n, result(discoverBody))
	script["server/discover"] = says(discoverBody)
	if n == endless {
		script["server/discover"] = []string{}
		want = `"protocol":"2025-11-25"`
	}
	if carrier == "stdio" {
		f.child(script, nil, `"limits":{`+set+`}`)
	} else {
		f.http(f.serve(base).url, `"limits":{`+set+`}`)
	}
	end := f.run("discover", "s")
	f.want("stdout", end.stdout, want)
	if n == endless && (end.took < ms(limit) || end.took > ms(limit)+2*time.Second) {
		f.Errorf("took %v", end.took)
	}
	return end
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func playRequest(f *field, carrier, set string, _, n int64) ended {
	steps := says(`{"tools":[]}`)
	if n == endless {
		steps = []string{}
	}
	return f.limited(carrier, set, "tools/list", waits(n, list()), steps)
}

func playCall(f *field, carrier, set string, limit, n int64) ended {
	if carrier == "connection" {
		return f.unsent(set, limit, n)
	}
	steps := says(okText)
	if n == endless {
		steps = []string{}
	}
	return f.limited(carrier, set, "tools/call", waits(n, result(okText)), steps)
}

// unsent calls a server whose connection does not come about: then nothing was sent, and the limit is refused by its
// own name.
func (f *field) unsent(set string, limit, n int64) ended {
	f.Helper()
	cert, ca := f.certificate("localhost")
	p := f.serve(modern())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	f.must(err)
	f.Cleanup(func() { _ = l.Close() })
	var silent atomic.Bool
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if silent.Load() {
				f.Cleanup(func() { _ = c.Close() })
			} else {
				go p.handle(tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}}))
			}
		}
	}()
	f.environ = append(f.environ, "SSL_CERT_FILE="+f.write("ca.pem", ca))
	f.http(fmt.Sprintf("https://localhost:%d/mcp", l.Addr().(*net.TCPAddr).Port), `"limits":{`+set+`}`)
	f.pin("t")
	if n != endless {
		return f.call("t")
	}
	silent.Store(true)
	end := f.call("t")
	if end.refusal != "limit.deadline_call" {
		f.Errorf("exit %d %q", end.exit, end.refusal)
	}
	f.wantDetail(end, "limit", limit)
	end.refusal = "transport.outcome_unknown"
	return end
}

func playShutdown(f *field, carrier, set string, limit, n int64) ended {
	if carrier == "session" {
		f.http(f.serve(legacy().with(replies{"DELETE /mcp": waits(n, status(200, "", ""))})).url, `"limits":{`+set+`}`)
	} else {
		script := modernChild()
		if n == endless {
			script[atStart] = []string{"deaf"}
		}
		f.child(script, nil, `"limits":{`+set+`}`)
	}
	end := f.run("discover", "s")
	if n == endless && end.took > ms(limit)+2*time.Second {
		f.Errorf("took %v", end.took)
	}
	return end
}

func playSignIn(f *field, _, set string, _, n int64) ended {
	w := f.world(nil, nil)
	w.http(w.mcp.url, `"limits":{`+set+`}`)
	if n == endless {
		f.person.back = func(url.Values) []string { return nil }
	}
	return w.login()
}

func playLock(f *field, _, set string, _, n int64) ended {
	w := f.refreshed(nil)
	w.as.change(replies{"POST /token": w.issues(3600)})
	w.http(w.mcp.url, `"limits":{`+set+`}`)
	for _, path := range f.sealed() {
		l := flock.New(path + ".lock")
		if ok, err := l.TryLock(); !ok || err != nil {
			f.Fatal("the lock is not to be had")
		}
		if n == endless {
			f.Cleanup(func() { _ = l.Unlock() })
		} else {
			time.AfterFunc(50*time.Millisecond, func() { _ = l.Unlock() })
		}
	}
	return w.run("discover", "s")
}

// playKeyring has a bus that hangs up at once, or one that never says a word.
func playKeyring(f *field, _, set string, limit, n int64) ended {
	if !keyringless {
		if n == endless {
			return ended{exit: 4, refusal: "custody.keyring_timeout", detail: map[string]any{"limit": float64(limit)}}
		}
		return ended{}
	}
	path := filepath.Join(f.home, "bus")
	l, err := net.Listen("unix", path)
	f.must(err)
	f.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if n == endless {
				f.Cleanup(func() { _ = c.Close() })
			} else {
				_ = c.Close()
			}
		}
	}()
	f.environ = append(f.environ, "DBUS_SESSION_BUS_ADDRESS=unix:path="+path)
	f.custody = `{"key":{"keyring":{}}}`
	w := f.world(nil, nil)
	w.http(w.mcp.url, `"limits":{`+set+`}`)
	end := w.login()
	w.nobodyAsked()
	if n != endless && strings.HasPrefix(end.refusal, "custody.key_unavailable") {
		return ended{} // a bus that hangs up is no keyring, and not one that is late
	}
	return end
}
