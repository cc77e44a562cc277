package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/strictjson"
)

// The test binary is also the other process of some tests: its role and folder are in the arguments.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "other-process" {
		roles[os.Args[2]](os.Args[3])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var roles = map[string]func(dir string){
	"count":     func(dir string) { count(inFolder(dir), 10) },
	"write":     writeForEver,
	"snapshots": snapshotsForEver,
	"hold":      holdForEver,
}

// other returns the command of another process in a role.
func other(t testing.TB, role, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(self, "other-process", role, dir)
}

// count adds n to the number that stands for the access token.
func count(c *Credentials, n int) {
	for range n {
		err := c.Transact(context.Background(), docs, func(tx *Tx) error {
			next := tx.Current()
			if next == nil {
				next = sample(docs)
				next.AccessToken = config.NewSecret("0")
			} else if err := tx.Present(); err != nil {
				return err
			}
			n, err := strconv.Atoi(next.AccessToken.Reveal())
			next.AccessToken = config.NewSecret(strconv.Itoa(n + 1))
			if err != nil {
				return err
			}
			return tx.Put(next)
		})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// writeForEver says each generation that is on disk, until it is killed.
func writeForEver(dir string) {
	c := inFolder(dir)
	for {
		err := c.Transact(context.Background(), docs, func(tx *Tx) error {
			if err := tx.Present(); err != nil {
				return err
			}
			if err := tx.Put(tx.Current()); err != nil {
				return err
			}
			fmt.Println(tx.Current().Generation)
			return nil
		})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// snapshotsForEver says each id that is on disk, until it is killed.
func snapshotsForEver(dir string) {
	for i := 0; ; i++ {
		data := []byte(fmt.Sprint(os.Getpid(), i))
		id := strictjson.Sum(data)
		if _, _, err := (Snapshots{dir}).Put(id, data); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(id)
	}
}

// holdForEver takes the lock, says so, and keeps it until it is killed.
func holdForEver(dir string) {
	c := inFolder(dir)
	_ = c.Transact(context.Background(), docs, func(*Tx) error {
		fmt.Println("held")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return nil
	})
}

var docs = Binding{"https://h.example/mcp", "https://as.example"}

// inFolder opens credentials whose key is in a file.
func inFolder(dir string) *Credentials {
	key := &Key{Source: config.Source{File: filepath.Join(dir, "key", "custody.key")}}
	return OpenCredentials(Dirs{Data: dir}, key, config.DefaultLimits())
}

func sample(b Binding) *Credential {
	return &Credential{
		Binding: b, Indicator: b.Resource, AccessToken: config.NewSecret("access-canary"),
		RefreshToken: config.NewSecret("refresh-canary"), Scopes: []string{"read", "write"},
		TokenEndpoint: b.Issuer + "/token",
		Client: Registration{
			Issuer: b.Issuer, ClientID: "client", Secret: config.NewSecret("secret-canary"), AuthMethod: "client_secret_post",
		},
	}
}

// start starts a process and returns a reader of its lines.
func start(t testing.TB, cmd *exec.Cmd) *bufio.Scanner {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return bufio.NewScanner(out)
}
