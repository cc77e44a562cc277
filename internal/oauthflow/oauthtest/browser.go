package oauthtest

import (
	"context"
	"io"
	"net/http"
	"testing"
)

// Browser follows redirects as a person's browser does and returns the last page.
func Browser(ctx context.Context, url string) (status int, header http.Header, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	page, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(page), err
}

// Open is a browser whose page nobody looks at.
func Open(ctx context.Context, url string) error {
	_, _, _, err := Browser(context.WithoutCancel(ctx), url)
	return err
}

// Unopened fails the test when a browser is opened.
func Unopened(t testing.TB) func(context.Context, string) error {
	return func(context.Context, string) error {
		t.Error("a browser was opened")
		return nil
	}
}
