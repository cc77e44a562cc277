package custody

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpc/internal/oauthflow/oauthtest"
)

var (
	processes = flag.Int("processes", 8, "how many processes need a token at the same time")
	expiries  = flag.Int("expiries", 2, "how often all tokens expire")
)

const tokenLine = "as POST /token"

// ends is how the processes of one expiry ended.
type ends struct {
	done, killed, cutOff int
	bad                  []outcome
	took                 time.Duration
}

// together runs mcpc in many processes at once. Of those that victim picks each is killed at a random moment of the
// time that the last run took.
func together(p *person, victim func(i int) bool, span time.Duration) ends {
	var (
		mu  sync.Mutex
		sum ends
		wg  sync.WaitGroup
	)
	begin := time.Now()
	for i := range *processes {
		wg.Go(func() {
			var stdout, stderr bytes.Buffer
			cmd := p.command("discover", "docs", "--json")
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				p.t.Error(err)
				return
			}
			if victim(i) {
				after := rand.N(span) // #nosec G404 -- a moment, no secret
				defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
			}
			_ = cmd.Wait()
			mu.Lock()
			defer mu.Unlock()
			switch code := cmd.ProcessState.ExitCode(); {
			case code == 0 && bytes.Contains(stdout.Bytes(), []byte(`"say"`)):
				sum.done++
			case code < 0 || victim(i) && code == 1 && stderr.Len() == 0: // as Windows ends a process
				sum.killed++
			case code == 4 && bytes.Contains(stderr.Bytes(), []byte("oauth.login_required")):
				sum.cutOff++
			default:
				sum.bad = append(sum.bad, outcome{[]string{"discover"}, code, stdout.Bytes(), stderr.Bytes(), 0})
			}
		})
	}
	wg.Wait()
	sum.took = time.Since(begin)
	return sum
}

func nobody(int) bool { return false }

// signedIn is a person who has signed in to a world of their own.
func signedIn(t testing.TB) (*person, *oauthtest.World) {
	t.Helper()
	w, p := newWorld(t), newPerson(t)
	p.configure(docs(w), p.keyFile())
	p.must(0, "", "login", "docs")
	return p, w
}

// However many processes find the token expired, one of them spends the refresh token and the others use what it got.
func TestProcessesSpendOneRefreshToken(t *testing.T) {
	t.Parallel()
	p, w := signedIn(t)
	w.ResetLog()
	for range *expiries {
		w.Expire()
		if e := together(p, nobody, 0); e.done != *processes {
			t.Fatalf("%d of %d done; %d must sign in; others: %v", e.done, *processes, e.cutOff, e.bad)
		}
	}
	if n := len(w.Requests(tokenLine)); n != *expiries || len(w.Refused()) != 0 || p.browsers() != 1 {
		t.Fatalf("%d token requests for %d expiries, errors %v, %d browsers", n, *expiries, w.Refused(), p.browsers())
	}
	t.Logf("%d processes x %d expiries: %d token requests, %d refused, %d browsers after the sign-in",
		*processes, *expiries, len(w.Requests(tokenLine)), len(w.Refused()), p.browsers()-1)
}

// The same with a kill in one of twenty. A kill loses nothing, with one exception that no client can help: when it
// comes between the sending of the refresh token and the answer's arrival on disk. Then the server ends the grant, the
// next command says so by name, and nobody asks again. That is counted apart, and costs one refused request, or two
// where the dead process's request reaches the server only after that of the next.
func TestKilledProcessesSpendNoMore(t *testing.T) {
	t.Parallel()
	p, w := signedIn(t)
	w.ResetLog()
	signIns, lost, killed := 1, 0, 0
	span := 200 * time.Millisecond
	for round := range *expiries {
		w.Expire()
		e := together(p, func(i int) bool { return i%20 == round%20 }, span)
		killed += e.killed
		switch last := p.run("discover", "docs"); {
		case len(e.bad) > 0:
			t.Fatalf("%v", e.bad)
		case last.code == 4 && e.killed > 0:
			lost++
			signIns++
			p.must(0, "", "login", "docs")
		case last.code != 0 || e.cutOff > 0:
			t.Fatalf("%v%d must sign in, %d were killed", last, e.cutOff, e.killed)
		}
		span = e.took * 2 / 3 // so that most victims are still at work
	}
	n, refused := len(w.Requests(tokenLine)), len(w.Refused())
	if n != *expiries+refused+signIns-1 || refused < lost || refused > 2*lost || p.browsers() != signIns {
		t.Fatalf("%d token requests for %d expiries, %d lost, errors %v, %d browsers",
			n, *expiries, lost, w.Refused(), p.browsers())
	}
	clean(t, p, w)
	t.Logf("%d processes x %d expiries, %d killed, %d of them in the one moment: %d token requests, %d refused, "+
		"%d browsers after the sign-in", *processes, *expiries, killed, lost, n, refused, p.browsers()-1)
}

// clean requires that no secret and no unfinished file is left.
func clean(t testing.TB, p *person, w *oauthtest.World) {
	t.Helper()
	for path, data := range files(t, p.home) {
		if strings.HasSuffix(path, ".next") || strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s was left behind", path)
		}
		for _, secret := range w.Secrets() {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds %s", path, secret)
			}
		}
	}
}

// The two sides of the one moment: a kill before the server has spent the token costs nothing, a kill after it ends the
// grant in words of ours.
func TestKillAroundTheSpending(t *testing.T) {
	t.Parallel()
	for _, spent := range []bool{false, true} {
		p, w := signedIn(t)
		w.ResetLog()
		w.Expire()
		arrived := make(chan struct{})
		w.Around(tokenLine, func(next http.HandlerFunc) http.HandlerFunc {
			return func(_ http.ResponseWriter, req *http.Request) {
				if spent {
					next(httptest.NewRecorder(), req)
				}
				close(arrived)
				<-req.Context().Done()
			}
		})
		cmd := p.command("discover", "docs")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-arrived
		kill(t, cmd)
		w.Off(tokenLine)
		if !spent {
			p.must(0, "", "discover", "docs")
		} else {
			p.must(4, "an earlier refresh was cut off, and the grant has ended", "discover", "docs")
			p.must(4, "oauth.login_required", "discover", "docs") // and it does not ask again
			if n := len(w.Requests(tokenLine)); n != 2 || p.browsers() != 1 {
				t.Errorf("%d token requests, %d browsers", n, p.browsers())
			}
			p.must(0, "", "login", "docs")
			p.must(0, "", "discover", "docs")
		}
		clean(t, p, w)
	}
}

func kill(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}
