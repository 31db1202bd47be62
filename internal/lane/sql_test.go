package lane

import "testing"

func TestDefinesSchema(t *testing.T) {
	for text, want := range map[string]bool{
		"":                         false,
		"select 1;\n":              false,
		"select * from creates;\n": false,
		"update a set b = 1 where c = 2;\ndelete from a;\ninsert into a values ('x');\n": false,
		"create temporary table t as select 1;\n":                                        false,
		"CREATE LOCAL TEMP TABLE t AS SELECT 1;\n":                                       false,
		"/* Create a report,\n   drop nothing */\nselect 1; -- create table\n":           false,
		"-- create table a ();\nselect 1;\n":                                             false,
		"create table a (b int);\n":                                                      true,
		"select 1; ALTER TABLE a ADD b int;":                                             true,
		"\tDrop\n view a;\n":                                                             true,
		"/**/ create index a on b (c); /* d */":                                          true,
		"/* a */ truncate a;":                                                            true,
		"create or replace view a as select 1;":                                          true,
		"/*!40101 CREATE TABLE a (b int) */;":                                            true,
		"IF OBJECT_ID('a') IS NOT NULL DROP TABLE a;\r\nGO\r\n":                          true,
		"-- /*\ncreate table a ();\n-- */\n":                                             true,
		"rename table a to b;":                                                           true,
	} {
		if got := DefinesSchema([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for name, want := range map[string]bool{"a.sql": true, "a/B.SQL": true, "sql": false, "a.sql.md": false} {
		if ReadsSQL(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func FuzzDefinesSchema(f *testing.F) {
	f.Add([]byte("create table a (b int);"))
	f.Add([]byte("/* -- */ drop"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if DefinesSchema(text) != DefinesSchema(append([]byte("\n"), text...)) {
			t.Errorf("an empty line before %q makes a difference", text)
		}
	})
}
