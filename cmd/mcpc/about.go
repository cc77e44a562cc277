package main

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and the protocols that it speaks",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(fmt.Appendf(nil, `{"mcpc":"version/1","version":%q,"protocols":[%q,%q],"go":%q}`,
					version, transport.Modern, transport.Legacy, runtime.Version()))
			}
			p := a.page()
			p.linef("mcpc %s   speaks MCP %s and %s   built with %s", version, transport.Modern, transport.Legacy, runtime.Version())
			return p.flush()
		},
	}
}

func newRefusals(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "refusals [NAME]",
		Short: "List every named refusal and every limit, with its default",
		Example: `  mcpc refusals
  mcpc refusals limit.frame`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(cmd, "%s is one word too many", args[1])
			}
			return nil
		},
		ValidArgsFunction: completeRefusal,
		RunE: func(cmd *cobra.Command, args []string) error {
			entries := refusal.All()
			if len(args) == 1 {
				e, ok := refusal.Lookup(args[0])
				if !ok {
					return usage(cmd, "there is no refusal %s", args[0])
				}
				entries = []*refusal.Entry{e}
			}
			return a.printRefusals(entries, len(args) == 0)
		},
	}
}

func (a *app) printRefusals(entries []*refusal.Entry, limits bool) error {
	if a.json {
		return a.printJSON(refusalsDocument(entries))
	}
	p := a.page()
	for _, e := range entries {
		p.linef("%-34s exit %-3d %s", e.Name, e.Exit, e.Sentence)
	}
	if !limits {
		return p.flush()
	}
	p.line("")
	p.line("limits (member of \"limits\" in the configuration, default)")
	for _, l := range config.Table {
		p.linef("  %-18s %10d %-6s %s", l.Member, l.Default, l.Unit, l.Means)
	}
	return p.flush()
}

func refusalsDocument(entries []*refusal.Entry) []byte {
	var b bytes.Buffer
	b.WriteString(`{"mcpc":"refusals/1","refusals":[`)
	for i, e := range entries {
		comma(&b, i)
		fields := make([]string, len(e.Fields))
		for j, f := range e.Fields {
			fields[j] = fmt.Sprintf("%q", f)
		}
		fmt.Fprintf(&b, "\n{\"name\":%q,\"exit\":%d,\"sentence\":%s,\"detail\":[%s]}", e.Name, e.Exit, strictjson.Quote(e.Sentence), strings.Join(fields, ","))
	}
	b.WriteString("],\n\"limits\":[")
	for i, l := range config.Table {
		comma(&b, i)
		name := "null"
		if l.Refusal != nil {
			name = fmt.Sprintf("%q", l.Refusal.Name)
		}
		fmt.Fprintf(&b, "\n{\"member\":%q,\"unit\":%q,\"default\":%d,\"refusal\":%s}", l.Member, l.Unit, l.Default, name)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// newFeatures makes the hidden commands of what mcpc does not admit: they refuse by feature name.
func newFeatures(a *app) []*cobra.Command {
	var cmds []*cobra.Command
	for _, e := range []*refusal.Entry{
		refusal.FeatureResources, refusal.FeaturePrompts, refusal.FeatureElicitation, refusal.FeatureSampling,
		refusal.FeatureRoots, refusal.FeatureTasks, refusal.FeatureCompletion, refusal.FeatureLogging,
	} {
		name := strings.TrimPrefix(e.Name, "feature.")
		if name == "completion" {
			name = "complete" // `completion` is the shell's
		}
		cmds = append(cmds, &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			RunE: func(_ *cobra.Command, args []string) error {
				for _, w := range args {
					a.json = a.json || w == "--json"
				}
				return refusal.New(e)
			},
		})
	}
	return cmds
}

const exitCodes = `Exit codes are an API: they change only with the major version.

  0    done; snapshots equal; every grant effective
  1    an honest "no": the tool reports an error, snapshots differ, a grant is
       not effective
  2    usage or configuration error
  3    refused by name: authority, feature, limit, policy
  4    sign-in needed, or the authorization failed
  5    unreachable, broken off while a call was under way, or the peer broke the
       protocol
  130  interrupted by the user

mcpc refusals lists every refusal with its exit code.`

const environment = `mcpc reads these environment variables, and no others of its own:

  XDG_CONFIG_HOME   configuration and authority documents (default ~/.config)
  XDG_DATA_HOME     snapshots and sealed credentials (default ~/.local/share)
  XDG_STATE_HOME    locks (default ~/.local/state)
  HOME              for the defaults above
  PATH              to find the command of a stdio server
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY   for every leg alike, never for loopback
  SSL_CERT_FILE, SSL_CERT_DIR         certificates that are trusted
  BROWSER           what mcpc login opens a page with
  NO_COLOR, TERM    no colours on a terminal where it is set, or is dumb
  DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR   to reach the keyring

A stdio server sees the variables that its configuration lists, and no others.
A variable that is named as the source of a secret is read when it is needed.`

const argumentsTopic = `The arguments of mcpc call are one JSON object, built from words or given whole.

  key=value     a string; or a number, boolean, array or object where the pinned
                schema of the tool declares just that type for the key. A number
                keeps its spelling: 1.10 and 9007199254740993 are sent as typed.
  key:=JSON     any JSON value
  key=@FILE     the text of a file, in place of value
  key:=@FILE    the JSON in a file
  --args '{}'   the whole object; --args @FILE, or --args - for stdin. The bytes
                are sent as they are.

A key twice, a key that the tool does not declare, and JSON that is not strict
are refused before anything is sent. Stdin is read for --args - only.`

func helpTopics() []*cobra.Command {
	topic := func(name, short, long string) *cobra.Command {
		return &cobra.Command{Use: name, Short: short, Long: long}
	}
	return []*cobra.Command{
		topic("exit-codes", "What the exit codes mean", exitCodes),
		topic("environment", "Environment variables that are read", environment),
		topic("arguments", "How the arguments of a call are written", argumentsTopic),
	}
}
