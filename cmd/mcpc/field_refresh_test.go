package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

func TestFieldRefresh(t *testing.T)     { walk(t, refreshCases) }
func TestFieldStepUp(t *testing.T)      { walk(t, stepUpCases) }
func TestFieldConcurrency(t *testing.T) { walk(t, concurrencyCases) }

// refreshed is a signed-in world whose access tokens have ended and whose token endpoint now answers like this.
func (f *field) refreshed(say reply) *world {
	f.Helper()
	w := f.world(nil, nil)
	w.signedIn()
	w.expire()
	w.as.change(replies{"POST /token": say})
	w.as.mu.Lock()
	w.as.heard = nil
	w.as.mu.Unlock()
	f.person.mu.Lock()
	f.person.asked = nil
	f.person.mu.Unlock()
	return w
}

// keepsTheOld refreshes three times with answers that bring this instead of a new refresh token.
func keepsTheOld(member string) func(*field) ended {
	return func(f *field) ended {
		w := f.refreshed(nil)
		w.as.change(replies{"POST /token": func(p *peer, c net.Conn, r *request) {
			w.token(`{"access_token":"AT1","token_type":"Bearer","expires_in":0`+member+`}`)(p, c, r)
		}})
		var end ended
		for range 3 {
			if end = w.run("discover", "s"); end.exit != 0 {
				f.Errorf("exit %d: %s", end.exit, end.stderr)
			}
		}
		for _, form := range w.forms() {
			if form.Get("refresh_token") != "RT1" {
				f.Errorf("sent %v", form)
			}
		}
		if n := len(w.forms()); n < 3 {
			f.Errorf("%d refreshes", n)
		}
		return end
	}
}

// temporary is a refresh that is answered like this and leaves the credential as it was.
func temporary(say reply) func(*field) ended {
	return func(f *field) ended {
		w := f.refreshed(say)
		before := w.run("credentials").stdout
		end := w.run("discover", "s")
		if len(w.forms()) != 1 {
			f.Errorf("%d refreshes", len(w.forms()))
		}
		if after := w.run("credentials").stdout; after != before {
			f.Errorf("stored is %s, was %s", after, before)
		}
		w.as.change(replies{"POST /token": w.issues(3600)})
		if again := w.run("discover", "s"); again.exit != 0 {
			f.Errorf("afterwards exit %d: %s", again.exit, again.stderr)
		}
		return end
	}
}

// sealed returns the files of stored credentials and registrations.
func (f *field) sealed() []string {
	f.Helper()
	all, err := filepath.Glob(filepath.Join(f.home, "data/mcpc/credentials/*.sealed"))
	f.must(err)
	return all
}

var refreshCases = []fieldCase{
	{"REF-01", "omitted", 0, "", keepsTheOld("")},
	{"REF-01", "empty", 0, "", keepsTheOld(`,"refresh_token":""`)},
	{"REF-01", "null", 0, "", keepsTheOld(`,"refresh_token":null`)},
	{"REF-03", "429", 5, "oauth.token_endpoint", func(f *field) ended {
		end := temporary(status(429, "application/json", `{"error":"slow_down"}`, "Retry-After: 5"))(f)
		f.wantDetail(end, "retry_after", 5)
		return end
	}},
	{"REF-03", "403 page", 5, "oauth.token_endpoint", temporary(status(403, "text/html", "<html>"+prose))},
	{"REF-03", "408", 5, "oauth.token_endpoint", temporary(status(408, "", ""))},
	{"REF-03", "503 with an OAuth error", 5, "oauth.token_endpoint", temporary(
		status(503, "application/json", `{"error":"invalid_grant"}`))},
	{"REF-04", "401", 4, "oauth.login_required", ends(status(401, "application/json", `{"error":"invalid_grant"}`))},
	{"REF-04", "400 with a challenge", 4, "oauth.login_required", ends(status(400, "application/json",
		`{"error":"invalid_grant","error_description":"`+prose+`"}`, `WWW-Authenticate: Bearer error="invalid_token"`))},
	{"REF-05", "the resource is named", 0, "", func(f *field) ended {
		w := f.refreshed(nil)
		w.as.change(replies{"POST /token": w.issues(3600)})
		end := w.run("discover", "s")
		w.sameResource(w.mcp.url)
		return end
	}},
	{"REF-05", "and the new token is refused", 4, "oauth.token_rejected", func(f *field) ended {
		w := f.refreshed(document(`{"access_token":"ATX","token_type":"Bearer","refresh_token":"RTX"}`))
		end := w.run("discover", "s")
		if n := len(w.forms()); n != 1 {
			f.Errorf("%d refreshes", n)
		}
		w.nobodyAsked()
		return end
	}},
}

// ends is a refresh that ends the grant.
func ends(say reply) func(*field) ended {
	return func(f *field) ended {
		w := f.refreshed(say)
		end := w.run("discover", "s")
		again := w.run("discover", "s")
		if again.refusal != "oauth.login_required" || len(w.forms()) != 1 {
			f.Errorf("%d refreshes, then %q", len(w.forms()), again.refusal)
		}
		f.want("hint", end.hint, "mcpc login s")
		w.nobodyAsked()
		return end
	}
}

// needs is an answer that asks for a scope.
func needs(scope, more string) reply {
	return status(403, "text/plain", prose, `WWW-Authenticate: Bearer error="insufficient_scope", scope="`+scope+
		`", error_description="`+prose+`"`+more)
}

var stepUpCases = []fieldCase{
	{"STEP-01", "", 4, "oauth.scope_required", func(f *field) ended {
		w := f.world(nil, nil)
		w.signedIn()
		f.pin("t")
		w.mcp.change(replies{"tools/call": needs("write", "")})
		end := f.call("t")
		if end.hint != "mcpc login s --scope write" {
			f.Errorf("hint %q", end.hint)
		}
		if end := w.login("--scope", "write"); end.exit != 0 {
			f.Errorf("login: %s", end.stderr)
		}
		if q := f.person.requests(); q[len(q)-1].Get("scope") != "read write" && q[len(q)-1].Get("scope") != "write read" {
			f.Errorf("asked for %v", q[len(q)-1])
		}
		return end
	}},
	{"STEP-01", "asked for again although granted", 4, "oauth.scope_required", func(f *field) ended {
		w := f.world(nil, nil)
		w.signedIn()
		w.mcp.change(replies{"tools/list": needs("read", "")})
		end := w.run("discover", "s")
		f.wantDetail(end, "reason", "they are granted already")
		f.notHolds(end.hint, "login")
		return end
	}},
	{"STEP-03", "", 4, "oauth.challenge_origin", func(f *field) ended {
		w := f.world(nil, nil)
		evil := f.serve(replies{})
		w.signedIn()
		w.mcp.change(replies{"tools/list": needs("write", `, resource_metadata="`+evil.origin+
			`/.well-known/oauth-protected-resource"`)})
		end := w.run("discover", "s")
		if evil.said() != "" {
			f.Errorf("the other origin heard %s", evil.said())
		}
		return end
	}},
}

var concurrencyCases = []fieldCase{
	{"CON-01", "expired", 4, "oauth.login_required", func(f *field) ended {
		w := f.refreshed(status(400, "application/json", `{"error":"invalid_grant"}`))
		f.browser()
		end := w.run("discover", "s")
		if _, err := os.Stat(filepath.Join(f.home, "argv.json")); err == nil {
			f.Error("a browser was opened")
		}
		return end
	}},
	{"CON-01", "never signed in, three at once", 4, "oauth.login_required", func(f *field) ended {
		w := f.world(nil, nil)
		f.browser()
		ends := f.atOnce(3, func(int) ended { return w.run("discover", "s") })
		if _, err := os.Stat(filepath.Join(f.home, "argv.json")); err == nil {
			f.Error("a browser was opened")
		}
		if n := len(w.mcp.requests("server/discover")); n != 3 {
			f.Errorf("%d requests, want one each", n)
		}
		return ends[0]
	}},
	{"CON-02", "the lock file of a process that was killed", 0, "", func(f *field) ended {
		w := f.refreshed(silent())
		ctx, stop := context.WithCancel(f.Context())
		defer stop()
		cmd := exec.CommandContext(ctx, f.executable(), programWord, "--json", "discover", "s")
		cmd.Env = f.environ
		f.must(cmd.Start())
		for len(w.forms()) == 0 && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		stop() // as kill -9 does, in the middle of the refresh
		_ = cmd.Wait()
		for _, path := range f.sealed() {
			f.must(os.WriteFile(path+".lock", []byte("1\n"), 0o600))
		}
		w.as.change(replies{"POST /token": w.issues(3600)})
		return w.run("discover", "s")
	}},
	{"CON-02", "the lock of one that lives", 5, "limit.deadline_lock", func(f *field) ended {
		w := f.refreshed(nil)
		w.http(w.mcp.url, `"limits":{"lock_wait_ms":200}`)
		for _, path := range f.sealed() {
			l := flock.New(path + ".lock")
			if ok, err := l.TryLock(); !ok || err != nil {
				f.Fatal("the lock is not to be had")
			}
			f.Cleanup(func() { _ = l.Unlock() })
		}
		return w.run("discover", "s")
	}},
	{"CON-03", "one port", 0, "", func(f *field) ended {
		w := f.world(nil, nil)
		w.http(w.mcp.url, `"oauth":{"callback":"127.0.0.1:`+fmt.Sprint(f.freePort())+`"}`)
		second := make(chan ended, 1)
		f.person.back = func(q url.Values) []string {
			second <- w.login()
			return []string{callback(q, code)}
		}
		end := w.login()
		if other := <-second; other.refusal != "oauth.callback_busy" {
			f.Errorf("the second one ends with %d %q", other.exit, other.refusal)
		}
		return end
	}},
	{"CON-03", "two ports", 0, "", func(f *field) ended {
		w := f.world(nil, nil)
		var both sync.WaitGroup
		both.Add(2)
		f.person.back = func(q url.Values) []string {
			both.Done()
			both.Wait() // each comes back when both are on their way
			return []string{callback(q, code)}
		}
		ends := f.atOnce(2, func(int) ended { return w.login() })
		if n := strings.Count(w.run("credentials").stdout, `"issuer"`); ends[1].exit != 0 || n != 1 {
			f.Errorf("exit %d, %d credentials", ends[1].exit, n)
		}
		if q := f.person.requests(); q[0].Get("state") == q[1].Get("state") {
			f.Error("one state for two sign-ins")
		}
		if after := w.run("discover", "s"); after.exit != 0 {
			f.Errorf("afterwards exit %d", after.exit)
		}
		return ends[0]
	}},
	{"CON-04", "many at once spend one refresh token", 0, "", func(f *field) ended {
		w := f.refreshed(nil)
		w.as.change(replies{"POST /token": after(50*time.Millisecond, w.issues(3600))})
		ends := f.atOnce(4, func(int) ended { return w.run("discover", "s") })
		for _, end := range ends[1:] {
			if end.exit != 0 {
				f.Errorf("exit %d: %s", end.exit, end.stderr)
			}
		}
		if n := len(w.forms()); n != 1 {
			f.Errorf("%d refreshes", n)
		}
		return ends[0]
	}},
	{"CON-04", "refreshed between two requests of one process", 0, "", func(f *field) ended {
		w := f.refreshed(nil)
		w.as.change(replies{"POST /token": w.issues(3600)})
		w.mcp.change(replies{"server/discover": w.guarded(oneByOne(func(p *peer, c net.Conn, r *request) {
			w.expire() // the token of this process ends, and another process refreshes it
			if other := w.run("discover", "s"); other.exit != 0 {
				f.Errorf("the other process ends with %d: %s", other.exit, other.stderr)
			}
			result(discoverBody)(p, c, r)
		}, result(discoverBody)))})
		end := w.run("discover", "s")
		var sent []string
		for _, form := range w.forms() {
			sent = append(sent, form.Get("refresh_token"))
		}
		if got := strings.Join(sent, " "); got != "RT1 RT2" {
			f.Errorf("refresh tokens sent: %s", got)
		}
		return end
	}},
}

// atOnce runs n of them at the same time.
func (f *field) atOnce(n int, one func(int) ended) []ended {
	f.Helper()
	ends := make([]ended, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { ends[i] = one(i) })
	}
	all.Wait()
	return ends
}
