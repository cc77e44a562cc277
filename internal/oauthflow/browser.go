package oauthflow

import (
	"cmp"
	"io"
	"os/exec"
	"runtime"
	"strings"

	"github.com/cli/browser"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// OpenBrowser opens an authorization URL and returns when the program that does so ends or hands over. The URL is one
// argv element; no shell sees it. choice is the value of $BROWSER: a program with its arguments, split at spaces, where
// %s stands for the URL, which is else added at the end; several are separated by colons and tried in order. With ""
// the system's own way is taken. The program sees env; on Windows the system starts it, with what it has itself.
func OpenBrowser(url, choice string, env []string) error {
	if !openable(url) {
		return refusal.New(refusal.OAuthEndpointScheme, refusal.Own("member", "authorization_endpoint"))
	}
	for _, command := range browserCommands(cmp.Or(choice, systemBrowsers[runtime.GOOS])) {
		argv := browserArgv(command, url)
		cmd := exec.Command(argv[0], argv[1:]...) // #nosec G204 -- the operator's own choice of browser; no shell
		cmd.Env = env
		if err := cmd.Start(); err == nil {
			if cmd.Wait() == nil {
				return nil
			}
		}
	}
	if choice != "" {
		return refusal.New(refusal.OAuthBrowser).Hint("see $BROWSER, or sign in with --no-browser")
	}
	if systemBrowsers[runtime.GOOS] != "" {
		return refusal.New(refusal.OAuthBrowser).Hint("sign in with --no-browser")
	}
	browser.Stdout, browser.Stderr = io.Discard, io.Discard // stdout is for the command's answer
	if err := browser.OpenURL(url); err != nil {
		return refusal.New(refusal.OAuthBrowser).Hint("sign in with --no-browser")
	}
	return nil
}

// systemBrowsers are the programs that open a URL. Where there are some the library is not asked, as it hands the whole
// environment on.
var systemBrowsers = map[string]string{
	"linux": "xdg-open:x-www-browser:www-browser:wslview", "darwin": "open",
}

// browserCommands splits $BROWSER at colons, except where the colon is part of a path or a URL (C:\, http://).
func browserCommands(choice string) []string {
	var commands []string
	for _, c := range strings.Split(choice, ":") {
		if last := len(commands) - 1; last >= 0 && (strings.HasPrefix(c, `\`) || strings.HasPrefix(c, "//")) {
			commands[last] += ":" + c
			continue
		}
		commands = append(commands, c)
	}
	kept := commands[:0]
	for _, c := range commands {
		if strings.TrimSpace(c) != "" {
			kept = append(kept, c)
		}
	}
	return kept
}

func browserArgv(command, url string) []string {
	argv := strings.Fields(command)
	named := false
	for i := range argv {
		if strings.Contains(argv[i], "%s") {
			argv[i], named = strings.ReplaceAll(argv[i], "%s", url), true
		}
	}
	if !named {
		argv = append(argv, url)
	}
	return argv
}

// openable is the last check before a program sees the URL: https, or http to this machine, of visible ASCII. What
// other schemes start is up to the desktop.
func openable(raw string) bool {
	u, reason := config.EndpointURL(raw)
	return reason == "" && (strings.HasPrefix(raw, "https://") ||
		strings.HasPrefix(raw, "http://") && config.Loopback(u.Hostname()))
}
