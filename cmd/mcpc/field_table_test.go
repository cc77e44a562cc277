package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fieldAreas are the tables of cases, one for each area.
var fieldAreas = map[string][]fieldCase{
	"negotiate": negotiateCases, "http": httpCases, "sse": sseCases, "stdio": stdioCases, "schema": schemaCases,
	"result-content": resultCases, "pagination": pagingCases, "limits": limitCases, "config": configCases,
	"snapshot/pinning": pinningCases, "terminal": terminalCases, "oauth-discovery": discoveryCases,
	"oauth-registration": registrationCases, "oauth-token": tokenCases, "refresh": refreshCases, "stepup": stepUpCases,
	"concurrency": concurrencyCases, "windows/macos": platformCases,
}

// fieldRow is one line of testdata/field-cases.json.
type fieldRow struct{ ID, Area, Source, Outcome string }

func fieldRows(t *testing.T) []fieldRow {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "field-cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []fieldRow
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// held returns how the cases of a row end, and how many there are.
func held(row fieldRow) (ends []string, shapes int) {
	for _, c := range fieldAreas[row.Area] {
		if c.id != row.ID {
			continue
		}
		end := fmt.Sprint(c.exit)
		if c.refusal != "" {
			end += " `" + c.refusal + "`"
		}
		if shapes++; !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	return ends, shapes
}

// fieldDocument is docs/field-cases.md.
func fieldDocument(rows []fieldRow) string {
	var b strings.Builder
	b.WriteString(`# Field cases

What went wrong for users of MCP clients and servers, and what mcpc does about it. Each row is played against the whole
program by servers that send raw bytes, in the shapes that were reported ("shapes" counts them): the exit codes and
refusals are those that the tests require. "source" is the public thread, or says that a case is derived from others.
Written by ` + "`make docs`" + ` from the tests; a test compares the two. A row that no test plays says so.

| id | area | source | what mcpc does | shapes | ends with |
|---|---|---|---|---|---|
`)
	for _, row := range rows {
		ends, shapes := held(row)
		if shapes == 0 {
			ends = []string{"**not covered**"}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %s |\n",
			row.ID, row.Area, cell(row.Source), cell(row.Outcome), shapes, strings.Join(ends, ", "))
	}
	b.WriteString("\nWhat cannot be seen from outside is held by the tests of a package:\n\n")
	for _, e := range fieldElsewhere {
		fmt.Fprintf(&b, "- %s, %s: %s\n", e.id, e.name, e.held)
	}
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// Every row is played, every case belongs to a row, and the document says the same.
func TestFieldCasesDocument(t *testing.T) {
	t.Parallel()
	rows := fieldRows(t)
	known := map[string]bool{}
	for _, row := range rows {
		if _, shapes := held(row); shapes == 0 || row.Outcome == "" || known[row.ID] {
			t.Errorf("%s is not covered, has no outcome or stands there twice", row.ID)
		}
		known[row.ID] = true
	}
	if len(rows) != 131 {
		t.Errorf("%d rows", len(rows))
	}
	for area, cases := range fieldAreas {
		names := map[string]bool{}
		for _, c := range cases {
			if !slices.ContainsFunc(rows, func(r fieldRow) bool { return r.ID == c.id && r.Area == area }) {
				t.Errorf("%s is no case of the area %s", c.id, area)
			}
			if name := c.id + "/" + c.name; names[name] {
				t.Errorf("%s stands there twice", name)
			} else {
				names[name] = true
			}
		}
	}
	compareDocument(t, filepath.Join("..", "..", "docs", "field-cases.md"), fieldDocument(rows))
}

// What is held elsewhere names a test that is there.
func TestFieldCasesElsewhere(t *testing.T) {
	t.Parallel()
	for _, e := range fieldElsewhere {
		folder, name, _ := strings.Cut(e.held, " ")
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(path string) bool {
			text, err := os.ReadFile(path)
			return err == nil && strings.Contains(string(text), "func "+name+"(t *testing.T)")
		}) {
			t.Errorf("%s names %s, which is not there", e.id, e.held)
		}
	}
}

// compareDocument writes a document with -update, and wants it to be as it is made.
func compareDocument(t *testing.T, path, made string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != made {
		t.Errorf("%s is not in step with the tests (%v); make docs", path, err)
	}
}
