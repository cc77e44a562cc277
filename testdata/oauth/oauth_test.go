// Package oauth signs in with real components: a certified OpenID Connect provider with its own pages, a protected
// server on the official SDK, and a person at headless Chromium. It guarantees nothing about them: it shows that a
// sign-in goes through, that what follows one does, and that the page at its end is fit to be read.
//
// It needs node, the packages of this folder and Chromium, so it is no part of ./...; make oauth-e2e runs it.
package oauth

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var mcpc, demoserver string // the programs, built by TestMain

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mcpc-oauth-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	mcpc, demoserver = filepath.Join(dir, "mcpc"), filepath.Join(dir, "demoserver")
	for program, source := range map[string]string{mcpc: "mcpc/cmd/mcpc", demoserver: "mcpc/testdata/demoserver"} {
		if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s", out)
			return 1
		}
	}
	return m.Run()
}

// stage is everything at hand while the story goes on.
type stage struct {
	*testing.T
	as     *provider
	server string
	person *person
	desk   *desk
}

// on returns the stage for one scene.
func (s *stage) on(t *testing.T) *stage {
	as, person, desk := *s.as, *s.person, *s.desk
	as.t, person.t, desk.t = t, t, t
	return &stage{t, &as, s.server, &person, &desk}
}

// The story of one sign-in. Each scene goes on where the one before ended.
func TestSignIn(t *testing.T) {
	as := startProvider(t)
	server := startServer(t, as.issuer)
	who := newPerson(t)
	s := &stage{t, as, server, who, newDesk(t, server, who)}
	for _, scene := range []struct {
		name string
		play func(*stage)
	}{
		{"needed", needed},
		{"explained", explained},
		{"cancelled", cancelled},
		{"given", given},
		{"called", called},
		{"expired", expired},
		{"expired for many at once", expiredForMany},
		{"refused before its time", droppedEarly},
		{"stepped up", steppedUp},
		{"logged out", loggedOut},
		{"without a browser of its own", withoutBrowser},
		{"carried by hand", carried},
		{"revoked", revoked},
	} {
		if !t.Run(scene.name, func(t *testing.T) { scene.play(s.on(t)) }) {
			t.Fatal("the story ends here")
		}
	}
}

// happened requires what the provider saw since the last time.
func (s *stage) happened(want ...string) {
	s.Helper()
	if got := s.as.news(); !slices.Equal(got, want) {
		s.Fatalf("at the provider: %q\nwanted:          %q", got, want)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}

func needed(s *stage) {
	s.desk.browser = s.person.command("consent")
	if hint := s.desk.refused("mcpc discover station", 4, "oauth.login_required"); hint != "mcpc login station" {
		s.Errorf("hint %q", hint)
	}
	s.happened()
	s.person.sawNothing()
}

func explained(s *stage) {
	s.desk.browser = s.person.command("consent")
	contains(s.T, s.desk.succeed("mcpc login station --explain"),
		"resource        "+s.server+"\n", "issuer          "+s.as.issuer+"\n", "registration    dynamic registration\n",
		"/.well-known/oauth-authorization-server", "station:read", "offline_access", "for a refresh token")
	s.happened()
	s.person.sawNothing()
}

func cancelled(s *stage) {
	s.desk.browser = s.person.command("cancel")
	_, stderr, exit := s.desk.run("mcpc login station")
	contains(s.T, stderr, "mcpc: oauth.denied: ")
	if exit != 4 {
		s.Errorf("exit %d", exit)
	}
	saw := s.person.saw()
	fitToRead(s.T, saw)
	contains(s.T, saw.Title+saw.Text, "Sign-in failed", "station", "oauth.denied", "Nothing was stored")
	if strings.Contains(saw.Text, "aborted") {
		s.Errorf("the provider's words are on the page: %s", saw.Text)
	}
	s.happened("registered", "page login", "page consent", "not authorized access_denied")
	if _, stderr, _ := s.desk.run("mcpc credentials list"); !strings.Contains(stderr, "no credentials are stored") {
		s.Errorf("something is stored: %s", stderr)
	}
}

func given(s *stage) {
	s.as.order("lifetime 1") // for the scene after the next
	s.desk.browser = s.person.command("consent")
	said := s.desk.succeed("mcpc login station")
	contains(s.T, said, "signed in to "+s.server+" by "+s.as.issuer, "station:read", "renews")
	saw := s.person.saw()
	fitToRead(s.T, saw)
	contains(s.T, saw.Title+saw.Text, "Signed in", "station")
	contains(s.T, saw.Asked, s.server, "station:read", "offline access")
	if strings.Contains(saw.Asked, "maintain") {
		s.Errorf("more was asked for than the server needs: %s", saw.Asked)
	}
	events := s.as.order("lifetime 3600")
	for _, e := range events {
		if e.Event == "authorized" && (e.Method != "S256" || e.Resource != s.server) ||
			e.Event == "granted" && e.Resource != s.server {
			s.Errorf("%+v", e)
		}
	}
	if len(events) != 5 {
		s.Errorf("at the provider: %+v", events)
	}
}

// called makes a snapshot and an authority document under the sign-in, and calls through them. The access token of a
// second may have ended meanwhile, which is nobody's concern.
func called(s *stage) {
	s.desk.succeed("mcpc snapshot take station")
	s.desk.succeed("mcpc authority draft station --tool greet --tool update_firmware --by ana > reading.json")
	var doc struct{ Auth struct{ Issuer string } }
	text := s.desk.succeed("cat reading.json")
	if err := json.Unmarshal([]byte(text), &doc); err != nil || doc.Auth.Issuer != s.as.issuer {
		s.Errorf("the document is for the sign-in of %q: %v", doc.Auth.Issuer, err)
	}
	s.greet()
}

const greeting = "mcpc call station greet name=Ana --authority reading.json"

func (s *stage) greet() {
	s.Helper()
	s.desk.browser = s.person.command("consent")
	contains(s.T, s.desk.succeed(greeting), "Hello, Ana!")
	s.person.sawNothing()
}

// credential is what mcpc says of the stored one.
func (s *stage) credential() (c struct {
	Issuer  string
	Scopes  []string
	Expires time.Time
	Renews  bool
},
) {
	s.Helper()
	if err := json.Unmarshal([]byte(s.desk.succeed("mcpc credentials show station --json")), &c); err != nil {
		s.Fatal(err)
	}
	return c
}

// outlive gets an access token of a second and waits for its end.
func (s *stage) outlive() {
	s.Helper()
	s.as.order("lifetime 1")
	s.as.order("drop")
	s.greet()
	s.as.order("lifetime 3600")
	time.Sleep(time.Until(s.credential().Expires)) // real time is what a token lives in
}

func expired(s *stage) {
	s.outlive()
	s.greet()
	s.happened("granted refresh_token")
	s.greet()
	s.happened()
}

// expiredForMany has eight processes want the one refresh token, which is good once: a second use ends the grant.
func expiredForMany(s *stage) {
	s.outlive()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if stdout, stderr, exit := s.desk.run(greeting); exit != 0 || !strings.Contains(stdout, "Hello, Ana!") {
				s.Errorf("exit %d: %s", exit, stderr)
			}
		})
	}
	all.Wait()
	s.happened("granted refresh_token")
	s.greet()
}

func droppedEarly(s *stage) {
	s.as.order("drop")
	s.greet()
	s.happened("granted refresh_token")
}

func steppedUp(s *stage) {
	const update = "mcpc call station update_firmware --authority "
	hint := s.desk.refused(update+"reading.json", 4, "oauth.scope_required")
	if hint != "mcpc login station --scope station:read --scope station:maintain" {
		s.Fatalf("hint %q", hint)
	}
	s.happened()
	s.desk.browser = s.person.command("consent")
	s.desk.succeed(hint) // as it stands
	saw := s.person.saw()
	contains(s.T, saw.Asked, "station:maintain")
	if got := s.credential().Scopes; !slices.Contains(got, "station:read") || !slices.Contains(got, "station:maintain") {
		s.Errorf("scopes %q: a step-up loses nothing", got)
	}
	if events := s.as.news(); slices.Contains(events, "registered") {
		s.Errorf("registered once more: %q", events)
	}

	// The document was reviewed under the narrower sign-in.
	s.desk.refused(update+"reading.json", 3, "authority.auth_mismatch")
	narrow := s.desk.succeed("cat reading.json")
	s.desk.write("maintenance.json", strings.Replace(narrow, `"station:read"`, `"station:read", "station:maintain"`, 1))
	contains(s.T, s.desk.succeed(update+"maintenance.json"), "The firmware is updated.")
	s.happened()
}

func loggedOut(s *stage) {
	contains(s.T, s.desk.succeed("mcpc logout station"), "revocation: revoked")
	s.happened("revoked")
	if hint := s.desk.refused(greeting, 3, "authority.auth_mismatch"); !strings.Contains(hint, "mcpc credentials show") {
		s.Errorf("hint %q", hint)
	}
	s.desk.refused("mcpc discover station", 4, "oauth.login_required")
	s.happened()
}

// withoutBrowser gives the URL to somebody else's browser on this machine, which reaches the listener.
func withoutBrowser(s *stage) {
	url, _, ended := s.unattended()
	s.person.browse("consent", url)
	saw := s.person.saw()
	contains(s.T, saw.Text, "Signed in")
	ended("signed in to " + s.server)
	s.greetAs("station:read")
}

// carried is a browser elsewhere: its last address does not load, and is pasted.
func carried(s *stage) {
	s.desk.succeed("mcpc logout station")
	url, prompt, ended := s.unattended()
	s.person.browse("carry", url)
	address := s.person.saw().Carried
	if _, err := io.WriteString(prompt, address+"\n"); err != nil {
		s.Fatal(err)
	}
	ended("signed in to " + s.server)
	s.greetAs("station:read")
}

func (s *stage) greetAs(scope string) {
	s.Helper()
	if got := s.credential().Scopes; !slices.Contains(got, scope) {
		s.Errorf("scopes %q", got)
	}
	s.greet()
}

// unattended starts mcpc login --no-browser and returns the URL that it prints, its stdin, and what waits for its end.
func (s *stage) unattended() (url string, prompt io.Writer, ended func(want string)) {
	s.Helper()
	s.desk.browser = s.person.command("cancel") // must not be opened
	cmd := s.desk.command(s.Context(), mcpc, "login", "station", "--no-browser")
	var out strings.Builder
	cmd.Stdout = &out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	in := bufio.NewReader(stderr)
	for url == "" {
		line, err := in.ReadString('\n')
		if err != nil {
			s.Fatal("no URL was printed")
		}
		if strings.HasPrefix(line, s.as.issuer) {
			url = strings.TrimSpace(line)
		}
	}
	return url, stdin, func(want string) {
		s.Helper()
		rest, _ := io.ReadAll(in)
		if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), want) {
			s.Fatalf("%v\n%s%s", err, out.String(), rest)
		}
	}
}

// revoked is the grant withdrawn at the provider. One refresh finds out, and nothing is asked after that.
func revoked(s *stage) {
	s.as.order("drop")
	s.as.order("revoke")
	if hint := s.desk.refused(greeting, 4, "oauth.login_required"); hint != "mcpc login station" {
		s.Errorf("hint %q", hint)
	}
	s.happened("not granted refresh_token invalid_grant")
	s.desk.refused(greeting, 4, "oauth.login_required")
	s.happened()
	s.person.sawNothing()

	s.desk.browser = s.person.command("consent")
	s.desk.succeed("mcpc login station")
	s.person.saw()
	s.greet()
}
