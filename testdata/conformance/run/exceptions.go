package main

import (
	"fmt"
	"slices"
	"strings"
)

// exception is a scored scenario that cannot pass because 0.1 does not admit its feature. fails is exactly what the
// suite then misses; also says what else must hold for that to be by design.
type exception struct {
	verdict string
	fails   []string
	also    func(*scenario) error
}

var exceptions = map[string]exception{
	"sep-2322-client-request-state": {
		verdict: "refused by design: `feature.multi_round`, exit 3",
		fails: []string{
			"sep-2322-client-jsonrpc-id-different", "sep-2322-client-no-state-omitted", "sep-2322-client-request-state-echoed",
		},
		also: refusedByName("feature.multi_round", "test_mrtr_echo_state", "test_mrtr_no_state"),
	},
	"elicitation-sep1034-client-defaults": {
		verdict: "refused by design: `feature.elicitation`, exit 3",
		fails: []string{
			"client-elicitation-sep1034-boolean-default", "client-elicitation-sep1034-enum-default",
			"client-elicitation-sep1034-general", "client-elicitation-sep1034-integer-default",
			"client-elicitation-sep1034-number-default", "client-elicitation-sep1034-string-default",
		},
		also: refusedByName("feature.elicitation", "test_client_elicitation_defaults"),
	},
}

// judge sets the verdict, and says what is wrong with it.
func (c *scenario) judge() error {
	if len(c.typed) == 0 {
		return fmt.Errorf("the driver typed nothing")
	}
	for _, t := range c.typed {
		if t.Refusal == "internal" || t.Exit < 0 || t.Exit > 5 {
			return fmt.Errorf("%s ended with exit %d %s", t.Command, t.Exit, t.Refusal)
		}
	}
	fails, warns := c.with("FAILURE"), c.with("WARNING")
	switch e, excepted := exceptions[c.name]; {
	case excepted && !slices.Equal(fails, e.fails):
		c.verdict = "fails"
		return fmt.Errorf("misses %v where it is to miss %v", fails, e.fails)
	case excepted:
		c.verdict = e.verdict
		return e.also(c)
	case len(fails)+len(warns) == 0 && len(c.with("SUCCESS")) > 0:
		c.verdict = "passes"
		return nil
	case !c.scored:
		c.verdict = "does not pass"
		return nil
	}
	c.verdict = "fails"
	return fmt.Errorf("misses %v, warns of %v", fails, warns)
}

// with returns the ids of the checks with a status, sorted, each once.
func (c *scenario) with(status string) (ids []string) {
	for _, k := range c.checks {
		if k.Status == status {
			ids = append(ids, k.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// refusedByName demands that the calls of these tools were refused by that name, and no other command by any.
func refusedByName(name string, tools ...string) func(*scenario) error {
	return func(c *scenario) error {
		for _, t := range c.typed {
			refused := t.Exit == 3 && t.Refusal == name
			demanded := slices.ContainsFunc(tools, func(tool string) bool { return t.calls(tool) })
			if refused != demanded || !refused && t.Exit != 0 {
				return fmt.Errorf("%s ended with exit %d %s", t.Command, t.Exit, t.Refusal)
			}
		}
		for _, tool := range tools {
			if !slices.ContainsFunc(c.typed, func(t typed) bool { return t.calls(tool) }) {
				return fmt.Errorf("%s was not called", tool)
			}
		}
		return nil
	}
}

func (t typed) calls(tool string) bool {
	return strings.HasPrefix(t.Command, "mcpc call ") && slices.Contains(strings.Fields(t.Command), tool)
}
