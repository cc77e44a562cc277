package transport

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"mcpc/internal/refusal"
)

// internalAddresses are targets that a URL from a server must not reach.
var internalAddresses = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.1.2.3",
	"127.255.255.255", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.170",
	"192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7",
	"203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
	"::", "::1", "::2", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1",
	"64:ff9b::808:808", "64:ff9b:1::a00:1", "100::1", "2001::1", "2001:2::1", "2001:10::1", "2001:db8::1",
	"2002:7f00:1::1", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1",
	"fe80::1", "febf::1", "fec0::1", "ff02::1", "ff0e::1",
}

var publicAddresses = []string{
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.0.0.1", "128.0.0.1",
	"169.253.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "192.167.0.1", "198.17.0.1", "198.20.0.1",
	"223.255.255.255",
	"2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1", "2003::1",
}

func TestInternalAddresses(t *testing.T) {
	t.Parallel()
	if len(internalAddresses) < 40 {
		t.Fatalf("%d addresses", len(internalAddresses))
	}
	for _, a := range internalAddresses {
		if !internalAddress(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as public", a)
		}
	}
	for _, a := range publicAddresses {
		if internalAddress(netip.MustParseAddr(a)) || internalHost(a) {
			t.Errorf("%s counts as internal", a)
		}
	}
}

// TestServerSuppliedAddress asks for every internal address, in a URL and through a name, without and with a proxy.
func TestServerSuppliedAddress(t *testing.T) {
	t.Parallel()
	proxy, asked := countingListener(t)
	for how, look := range map[string]LookupEnv{"direct": nil, "proxied": environ("HTTPS_PROXY", "http://"+proxy)} {
		for _, a := range internalAddresses {
			host := a
			if strings.Contains(a, ":") {
				host = "[" + a + "]"
			}
			wantGet(t, how, ClientPolicy{Purpose: ForMetadata, LookupEnv: look}, "https://"+host+"/x", refusal.TransportAddress)
		}
	}
	for _, host := range []string{
		"2130706433", "0x7f000001", "127.1", "0177.0.0.1", "127.0.0.1.", "localhost", "a.localhost", "LOCALHOST.",
	} {
		wantGet(t, "proxied", ClientPolicy{Purpose: ForToken, LookupEnv: environ("https_proxy", proxy)},
			"https://"+host+"/x", refusal.TransportAddress)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
	for _, a := range internalAddresses {
		ip := netip.MustParseAddr(a)
		if ip.Zone() != "" || !internalAddress(ip.Unmap()) {
			continue // no name server answers so, or it is a public address in the end
		}
		r := names(func(string, int) netip.Addr { return ip })
		wantGet(t, "by name", ClientPolicy{Purpose: ForToken, Resolver: r}, "https://as.example./x", refusal.TransportAddress)
	}
}

// TestRebinding: a name that is public when it is looked at first, and loopback afterwards, is not connected to.
func TestRebinding(t *testing.T) {
	t.Parallel()
	address, asked := countingListener(t)
	_, port, _ := net.SplitHostPort(address)
	r := names(func(_ string, n int) netip.Addr {
		if n == 0 {
			return netip.MustParseAddr("2001:4860:4860::8888")
		}
		return netip.MustParseAddr("127.0.0.1")
	})
	if ips, err := r.LookupNetIP(t.Context(), "ip6", "as.example."); err != nil || internalAddress(ips[0]) {
		t.Fatalf("first answer %v, %v", ips, err)
	}
	p := ClientPolicy{Purpose: ForToken, Resolver: r}
	wantGet(t, "rebound", p, "https://as.example.:"+port, refusal.TransportAddress)
	if n := asked.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestInternalIsAllowed(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	endpoint, other := mustURL(t, s.URL+"/mcp"), mustURL(t, "http://127.0.0.1:1/mcp")
	wantGet(t, "allowed", ClientPolicy{Purpose: ForToken, AllowInternal: true}, s.URL, nil)
	wantGet(t, "endpoint", ClientPolicy{Purpose: ForToken, Endpoint: endpoint}, s.URL+"/token", nil)
	wantGet(t, "other port", ClientPolicy{Purpose: ForToken, Endpoint: other}, s.URL+"/token", refusal.TransportAddress)
	wantGet(t, "mcp", ClientPolicy{Purpose: ForMCP, Endpoint: endpoint}, s.URL+"/mcp", nil)
	wantGet(t, "mcp elsewhere", ClientPolicy{Purpose: ForMCP, Endpoint: other}, s.URL+"/mcp", refusal.Internal)
}

// TestPlaintext: plain http to the name localhost goes to loopback only, whatever the name leads to.
func TestPlaintext(t *testing.T) {
	t.Parallel()
	r := names(func(string, int) netip.Addr { return netip.MustParseAddr("192.168.7.7") })
	g := &gate{policy: ClientPolicy{AllowInternal: true}}
	no := g.checkPlain("localhost:80", netip.MustParseAddrPort("192.168.7.7:80"))
	if no == nil || no.Entry() != refusal.TransportPlaintext {
		t.Errorf("got %v", no)
	}
	p := ClientPolicy{Purpose: ForMetadata, AllowInternal: true, Resolver: r}
	for _, u := range []string{
		"http://192.168.7.7/", "http://example.com/", "http://localhost.example/", "http://0.0.0.0/",
		"http://[::ffff:127.0.0.1]/",
	} {
		wantGet(t, "plain", p, u, refusal.TransportPlaintext)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"https://mcp.example.com/mcp", "https://mcp.example.com", "https://h:8443/a?b=c", "HTTPS://h/", "https://8.8.8.8/",
		"http://localhost:3000/mcp", "http://LOCALHOST/", "http://127.0.0.1/", "http://127.9.9.9:1/", "http://[::1]:3000/mcp",
		"https://10.0.0.1/mcp", "https://h/%0a",
	} {
		if u, r := CheckURL(raw); r != nil || u == nil {
			t.Errorf("%s: %v", raw, r)
		}
	}
	for raw, want := range map[string]*refusal.Entry{
		"":                           refusal.TransportURL,
		"mcp.example.com/mcp":        refusal.TransportURL,
		"/mcp":                       refusal.TransportURL,
		"https:":                     refusal.TransportURL,
		"https:///mcp":               refusal.TransportURL,
		"https:mcp.example.com":      refusal.TransportURL,
		"https://:443/":              refusal.TransportURL,
		"https://h:/":                refusal.TransportURL,
		"https://[fe80::1%25eth0]/":  refusal.TransportURL,
		"https://h:x/":               refusal.TransportURL,
		"https://user@h/":            refusal.TransportURL,
		"https://user:pw@h/":         refusal.TransportURL,
		"https://@h/":                refusal.TransportURL,
		"https://h/#f":               refusal.TransportURL,
		"https://h/#":                refusal.TransportURL,
		"https://h/a b":              refusal.TransportURL,
		"https://h/\r\nX: y":         refusal.TransportURL,
		"https://h/\x00":             refusal.TransportURL,
		"https://h/\x7f":             refusal.TransportURL,
		"https://h\\@evil.example/":  refusal.TransportURL,
		"https://gооgle.example/":    refusal.TransportURL,
		"https://h/%zz":              refusal.TransportURL,
		"ftp://h/":                   refusal.TransportURL,
		"file:///etc/passwd":         refusal.TransportURL,
		"javascript:alert(1)":        refusal.TransportURL,
		"http://mcp.example.com/mcp": refusal.TransportPlaintext,
		"http://10.0.0.1/":           refusal.TransportPlaintext,
		"http://127.0.0.1.nip.io/":   refusal.TransportPlaintext,
		"http://[::ffff:7f00:1]/":    refusal.TransportPlaintext,
		"http://0.0.0.0/":            refusal.TransportPlaintext,
		"http://2130706433/":         refusal.TransportPlaintext,
		"http://localhost./":         refusal.TransportPlaintext,
		"http://a.localhost/":        refusal.TransportPlaintext,
	} {
		if u, r := CheckURL(raw); r == nil || r.Entry() != want || u != nil {
			t.Errorf("%q: %v, want %s", raw, r, want.Name)
		}
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	s := tlsServer(t, nil, func(http.ResponseWriter, *http.Request) {})
	ca := certificateFile(t, s)
	endpoint := mustURL(t, s.URL)
	wantGet(t, "unknown root", ClientPolicy{Endpoint: endpoint}, s.URL, refusal.TransportTLS)
	wantGet(t, "ca_file", ClientPolicy{Endpoint: endpoint, CAFile: ca}, s.URL, nil)
	wantGet(t, "SSL_CERT_FILE", ClientPolicy{Endpoint: endpoint, LookupEnv: environ("SSL_CERT_FILE", ca)}, s.URL, nil)
	wrong := names(func(string, int) netip.Addr { return netip.MustParseAddr("127.0.0.1") })
	other := mustURL(t, "https://other.test:"+endpoint.Port())
	p := ClientPolicy{Endpoint: other, CAFile: ca, Resolver: wrong}
	wantGet(t, "wrong name", p, other.String(), refusal.TransportTLS)

	if r := get(t, ClientPolicy{Endpoint: endpoint}, s.URL); r.Detail("host") != endpoint.Host {
		t.Errorf("the configured host is not named: %v", r)
	}
	if r := get(t, ClientPolicy{Purpose: ForToken, AllowInternal: true}, s.URL); r.Detail("host") != nil {
		t.Errorf("a supplied host is named: %v", r)
	}

	old := tlsServer(t, &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10},
		func(http.ResponseWriter, *http.Request) {})
	p = ClientPolicy{Purpose: ForToken, AllowInternal: true, CAFile: certificateFile(t, old)}
	wantGet(t, "TLS 1.1", p, old.URL, refusal.TransportTLS)
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer plain.Close()
	wantGet(t, "no TLS", ClientPolicy{Purpose: ForToken, AllowInternal: true},
		strings.Replace(plain.URL, "http:", "https:", 1), refusal.TransportTLS)
}

func TestCertificateFiles(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "none.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]*refusal.Entry{
		empty:              refusal.ConfigCertificates,
		empty + ".missing": refusal.ConfigUnreadable,
	} {
		for _, p := range []ClientPolicy{{CAFile: path}, {LookupEnv: environ("SSL_CERT_FILE", path)}} {
			if _, err := NewClient(p); !refusal.Is(err, want) {
				t.Errorf("%s: %v", path, err)
			}
			p.Endpoint = mustURL(t, "http://127.0.0.1/mcp")
			if _, err := NewClient(p); err != nil {
				t.Errorf("%s is read though no TLS will be spoken: %v", path, err)
			}
		}
	}
}

// TestProxy: one rule for every leg (HTTP-17).
func TestProxy(t *testing.T) {
	t.Parallel()
	for _, purpose := range []Purpose{ForMCP, ForMetadata, ForToken} {
		var target string
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			target = r.Method + " " + r.Host
			w.WriteHeader(http.StatusForbidden)
		}))
		p := ClientPolicy{Purpose: purpose, Endpoint: mustURL(t, "https://mcp.example/mcp")}
		p.LookupEnv = environ("HTTPS_PROXY", proxy.URL)
		r := get(t, p, "https://mcp.example/mcp")
		if r == nil || r.Entry() != refusal.TransportUnreachable || r.HintText() == "" ||
			target != "CONNECT mcp.example:443" {
			t.Errorf("purpose %d: %v, the proxy saw %q", purpose, r, target)
		}
		target = ""
		p.LookupEnv = environ("HTTPS_PROXY", proxy.URL, "NO_PROXY", "mcp.example")
		p.Resolver = names(func(string, int) netip.Addr { return netip.MustParseAddr("127.0.0.1") })
		if get(t, p, "https://mcp.example/mcp"); target != "" {
			t.Errorf("purpose %d: NO_PROXY is not honoured", purpose)
		}
		proxy.Close()
	}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	nowhere := environ("HTTPS_PROXY", "http://127.0.0.1:1", "HTTP_PROXY", "http://127.0.0.1:1")
	wantGet(t, "loopback", ClientPolicy{Endpoint: mustURL(t, s.URL), LookupEnv: nowhere}, s.URL, nil)
}

func TestMetadataRedirects(t *testing.T) {
	t.Parallel()
	var far atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { far.Add(1) }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, "/b", http.StatusFound)
		case "/b":
			http.Redirect(w, r, "/c", http.StatusMovedPermanently)
		case "/c":
			http.Redirect(w, r, "/d", http.StatusTemporaryRedirect)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/0":
			http.Redirect(w, r, "/a", http.StatusFound)
		case "/far":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "/user":
			http.Redirect(w, r, "http://u:p@"+r.Host+"/d", http.StatusFound)
		case "/no":
			w.WriteHeader(http.StatusFound)
		}
	}))
	defer s.Close()
	p := ClientPolicy{Purpose: ForMetadata, AllowInternal: true}
	wantGet(t, "three", p, s.URL+"/a", nil)
	for _, path := range []string{"/0", "/loop", "/far", "/user", "/no"} {
		wantGet(t, path, p, s.URL+path, refusal.TransportRedirect)
	}
	wantGet(t, "token", ClientPolicy{Purpose: ForToken, AllowInternal: true}, s.URL+"/c", refusal.TransportRedirect)
	if far.Load() != 0 {
		t.Error("a redirect to another origin was followed")
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"https://h/mcp/":       "only by a trailing slash",
		"http://h/mcp":         "in the scheme",
		"https://evil/mcp":     "in the host",
		"https://h:8443/mcp":   "in the port",
		"https://h/login":      "in the path",
		"https://h/mcp?x=1":    "in the query",
		"https://H:443/mcp":    "in nothing",
		"https://sub.h/mcp/":   "in the host",
		"https://h/mcp%2F":     "in the path",
		"https://h/mcp/?a=1":   "in the query",
		"https://user@h/mcp/":  "only by a trailing slash",
		"http://evil:1/x?y=%7": "",
	} {
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		if got := difference(mustURL(t, "https://h/mcp"), u); want != "" && got != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
}

func TestClientKeepsContextErrors(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, func(_ int, _ arrived, w net.Conn) bool {
		_, _ = io.Copy(io.Discard, w)
		return false
	})
	c, err := NewClient(ClientPolicy{Endpoint: mustURL(t, s.url)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	resp, err := c.Do(r)
	if err == nil {
		_ = resp.Body.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// countingListener counts the connections that reach it.
func countingListener(t *testing.T) (address string, accepted *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	accepted = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			c.Close()
		}
	}()
	return l.Addr().String(), accepted
}

func environ(pairs ...string) LookupEnv {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// names is a resolver whose nth answer to any name is of the test's choice.
func names(answer func(name string, n int) netip.Addr) *net.Resolver {
	var count atomic.Int64
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			for answerOne(theirs, answer, &count) == nil {
			}
		}()
		return ours, nil
	}}
}

// answerOne speaks DNS over a stream: RFC 1035, 4.2.2.
func answerOne(c net.Conn, answer func(string, int) netip.Addr, count *atomic.Int64) error {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return err
	}
	query := make([]byte, int(size[0])<<8|int(size[1]))
	if _, err := io.ReadFull(c, query); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return err
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	ip := answer(q.Name.String(), int(count.Load()))
	head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 0}
	switch {
	case q.Type == dnsmessage.TypeA && ip.Is4():
		count.Add(1)
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: ip.As4()}}}
	case q.Type == dnsmessage.TypeAAAA && ip.Is6():
		count.Add(1)
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}}}
	}
	packed, err := m.Pack()
	if err != nil {
		return err
	}
	_, err = c.Write(append([]byte{byte(len(packed) >> 8), byte(len(packed))}, packed...))
	return err
}

func tlsServer(t *testing.T, config *tls.Config, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handle)
	s.TLS, s.Config.ErrorLog = config, log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func certificateFile(t *testing.T, s *httptest.Server) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustURL(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// get returns the refusal of one GET, or nil.
func get(t *testing.T, p ClientPolicy, target string) *refusal.Refusal {
	t.Helper()
	c, err := NewClient(p)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err == nil {
		resp.Body.Close()
		return nil
	}
	no, ok := refusal.As(err)
	if !ok {
		t.Fatalf("%s: %v is no refusal", target, err)
	}
	return no
}

func wantGet(t *testing.T, how string, p ClientPolicy, target string, want *refusal.Entry) {
	t.Helper()
	switch got := get(t, p, target); {
	case want == nil && got != nil:
		t.Errorf("%s %s: %v", how, target, got)
	case want != nil && (got == nil || got.Entry() != want):
		t.Errorf("%s %s: %v, want %s", how, target, got, want.Name)
	}
}
