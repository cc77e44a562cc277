package transport

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

func loopbackNames() *net.Resolver {
	return names(func(string, int) netip.Addr { return netip.MustParseAddr("127.0.0.1") })
}

// TestHTTP2 goes through the same cases as HTTP/1.1 where net/http takes another way.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	var ended atomic.Int64
	gone := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 || r.Header.Get("Authorization") != "Bearer t" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch r.Header.Get("Mcp-Method") {
		case "json":
			_, _ = io.WriteString(w, resultOf(1))
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, eventOf(resultOf(2)))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			ended.Add(1)
			close(gone)
		case "value":
			w.Header().Set("X", strings.Repeat("x", 70_000))
		case "header":
			for range 700 {
				w.Header().Add("X", strings.Repeat("x", 100))
			}
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	c := dialRaw(t, "https://example.com:"+mustURL(t, s.URL).Port(), func(o *HTTPOptions) {
		o.Server.HTTP.CAFile, o.Resolver = certificateFile(t, s), loopbackNames()
		o.Authorizer = &signIn{tokens: []string{"t"}}
	})
	c.Use(modern)
	if _, f := exchange1(t, c, "json"); f != nil {
		t.Fatal(f)
	}
	if _, f := exchange1(t, c, "stream"); f != nil {
		t.Fatal(f)
	}
	<-gone // the stream was closed when the response was there
	for _, method := range []string{"value", "header"} {
		_, f := exchange1(t, c, method)
		wantRefusal(t, f, refusal.LimitHeaders)
	}
}

// TestThroughProxy: what goes through a proxy is a tunnel, in which the proxy sees no credential of the server's.
func TestThroughProxy(t *testing.T) {
	t.Parallel()
	s := tlsServer(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, resultOf(1))
	})
	seen := make(chan *http.Request, 1)
	proxy := newPlainServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		tunnel(w, s.Listener.Addr().String())
	}))
	proxy = strings.Replace(strings.TrimSuffix(proxy, "/mcp"), "http://", "http://me:proxy-secret@", 1)
	o := func(o *HTTPOptions) {
		o.Server.HTTP.CAFile, o.LookupEnv = certificateFile(t, s), environ("HTTPS_PROXY", proxy)
		o.Headers = []SecretHeader{{"X-Key", config.NewSecret("k")}}
		o.Authorizer = &signIn{tokens: []string{"t"}}
	}
	c := dialRaw(t, "https://example.com/mcp", o)
	if _, f := exchange1(t, c, "tools/list"); f != nil {
		t.Fatal(f)
	}
	r := <-seen
	if r.Host != "example.com:443" || r.Header.Get("Proxy-Authorization") == "" ||
		r.Header.Get("X-Key")+r.Header.Get("Authorization") != "" {
		t.Errorf("the proxy saw %s %v", r.Host, r.Header)
	}
	other := dialRaw(t, "https://other.test/mcp", o) // the certificate is for example.com
	_, f := exchange1(t, other, "tools/list")
	wantRefusal(t, f, refusal.TransportTLS)
	if strings.Contains(f.Error()+f.Refusal.HintText(), "secret") {
		t.Errorf("%v", f)
	}
}

func tunnel(w http.ResponseWriter, to string) {
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	far, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer far.Close()
	_, _ = io.WriteString(near, "HTTP/1.1 200 Connected\r\n\r\n")
	go func() { _, _ = io.Copy(far, near); far.Close() }()
	_, _ = io.Copy(near, far)
}

// TestLanes: no lane verifies less than another, and roots are made only where there are others than the system's.
func TestLanes(t *testing.T) {
	t.Parallel()
	ca := certificateFile(t, tlsServer(t, nil, func(http.ResponseWriter, *http.Request) {}))
	for _, p := range []ClientPolicy{{}, {CAFile: ca}} {
		c, err := NewClient(p)
		if err != nil {
			t.Fatal(err)
		}
		g := c.Transport.(*gate)
		for _, lane := range []*http.Transport{g.plain, g.direct, g.proxied} {
			l := lane.TLSClientConfig
			if l.MinVersion < tls.VersionTLS12 || l.InsecureSkipVerify || (l.RootCAs == nil) != (p.CAFile == "") {
				t.Errorf("ca_file %q: %+v", p.CAFile, l)
			}
			if lane.MaxResponseHeaderBytes != defaultHeader || lane.DisableCompression {
				t.Errorf("%+v", lane)
			}
		}
		if c.Jar != nil || g.plain.Proxy != nil || g.direct.Proxy != nil {
			t.Error("a cookie jar or a proxy where none belongs")
		}
	}
}

// TestStreamBesideOverHTTP2: there the stream and the call share the connection of the session.
func TestStreamBesideOverHTTP2(t *testing.T) {
	t.Parallel()
	opened, ended := make(chan string, 1), make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			opened <- r.RemoteAddr
			<-r.Context().Done()
			close(ended)
		case strings.Contains(string(body), `"initialize"`):
			w.Header().Set(sessionHeader, "s1")
			_, _ = io.WriteString(w, resultOf(1))
		case r.Method == http.MethodPost:
			if from := <-opened; r.ProtoMajor != 2 || from != r.RemoteAddr {
				t.Errorf("the call came by HTTP/%d from %s, the stream from %s", r.ProtoMajor, r.RemoteAddr, from)
			}
			_, _ = io.WriteString(w, resultOf(2))
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	c := dialRaw(t, "https://example.com:"+mustURL(t, s.URL).Port(), func(o *HTTPOptions) {
		o.Server.HTTP.CAFile, o.Resolver = certificateFile(t, s), loopbackNames()
	})
	c.Use(legacy)
	exchange1(t, c, "initialize")
	if _, f := exchange1(t, c, "tools/call"); f != nil {
		t.Fatal(f)
	}
	<-ended
}
