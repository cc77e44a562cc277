package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// certificate makes a private CA and a certificate of it for these names, and returns the CA in PEM.
func (f *field) certificate(names ...string) (tls.Certificate, string) {
	f.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	f.must(err)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a private CA"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	leaf := *ca
	leaf.SerialNumber, leaf.IsCA, leaf.DNSNames = big.NewInt(2), false, names
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	root, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	f.must(err)
	der, err := x509.CreateCertificate(rand.Reader, &leaf, ca, key.Public(), key)
	f.must(err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(text)
}

// tunnels is a proxy that lets CONNECT through to the peers that stand for hosts.
type tunnels struct {
	url   string
	peers map[string]*peer // by host and port
	tls   *tls.Config

	mu       sync.Mutex
	connects []string
	refused  []string
}

func (f *field) tunnels(cert tls.Certificate, peers map[string]*peer) *tunnels {
	f.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	f.must(err)
	f.Cleanup(func() { _ = l.Close() })
	t := &tunnels{
		url: "http://user:" + prose + "@" + l.Addr().String(), peers: peers,
		tls: &tls.Config{Certificates: []tls.Certificate{cert}},
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go t.handle(c)
		}
	}()
	return t
}

func (t *tunnels) handle(c net.Conn) {
	in := bufio.NewReader(c)
	req, err := http.ReadRequest(in)
	if err != nil {
		_ = c.Close()
		return
	}
	t.mu.Lock()
	to := t.peers[req.Host]
	if req.Method == http.MethodConnect && to != nil {
		t.connects = append(t.connects, req.Host)
	} else {
		t.refused = append(t.refused, req.Method+" "+req.Host)
	}
	t.mu.Unlock()
	if to == nil {
		_ = c.Close()
		return
	}
	_, _ = io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
	to.handle(tls.Server(&read{Conn: c, from: in}, t.tls))
}

// read is a connection some of which was read already.
type read struct {
	net.Conn
	from *bufio.Reader
}

func (r *read) Read(b []byte) (int, error) { return r.from.Read(b) }

// throughProxy signs in to servers that only the proxy can reach, whose certificates are of a private CA.
func throughProxy(trusted bool) func(*field) ended {
	return func(f *field) ended {
		cert, ca := f.certificate("mcp.example", "as.example")
		w := f.world(nil, nil)
		w.mcp.origin, w.as.origin = "https://mcp.example", "https://as.example"
		w.mcp.vars, w.as.vars = []string{"$AS", w.as.origin}, []string{"$MCP", w.mcp.origin}
		proxy := f.tunnels(cert, map[string]*peer{"mcp.example:443": w.mcp, "as.example:443": w.as})
		w.http("https://mcp.example/mcp", "")
		f.environ = slices.DeleteFunc(f.environ, func(v string) bool { return strings.HasPrefix(v, "NO_PROXY") })
		f.environ = append(f.environ, "HTTPS_PROXY="+proxy.url, "SSL_CERT_FILE="+f.write("ca.pem", ca))
		if !trusted {
			f.environ = append(f.environ, "SSL_CERT_FILE=")
			end := w.login()
			f.wantDetail(end, "host", "mcp.example")
			return end
		}
		w.signedIn()
		w.expire()
		end := w.run("discover", "s")
		if len(w.forms()) != 2 || len(w.as.requests(serverForm)) != 1 || len(w.as.requests("POST /register")) != 1 {
			f.Errorf("the authorization server heard %s", w.as.said())
		}
		if len(proxy.refused) != 0 || len(proxy.connects) < 6 {
			f.Errorf("the proxy let through %v, and not %v", proxy.connects, proxy.refused)
		}
		return end
	}
}
