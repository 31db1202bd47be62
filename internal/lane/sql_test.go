package lane

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

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
		"drop/* */table t;":                                                              true,
		"Drop /* x */ table x":                                                           true,
		"alter/**/table x":                                                               true,
		"create --\n table x(a int);":                                                    true,
		"insert into t values ('a -- b'); drop table t;":                                 true,
		"update t set a='x--y'; alter table t drop column a;":                            true,
		"insert into t values ('/*'); drop table x; select '*/';":                        true,
		"select 1\r-- a note\rtruncate t\r":                                              true,
		"-- '\r -- it\ndrop table x; -- '":                                               true,
		"drop\u00a0table x":                                                              true,
		"select 1;\u2003truncate\u00a0t":                                                 true,
		"drop\xa0table x":                                                                true,
		"select 5 --1;drop table x;":                                                     true,
		"insert into t values ('a\\'); drop table x; select ';'":                         true,
		"insert into t values ('a\\', '); drop table x; --')":                            true,
		"insert into t values ('a\\''); drop table x; select '1'":                        true,
		"do $$ begin execute 'a'; drop table x; end $$;":                                 true,
		"select $$it's$$; drop table x; select $$it's$$":                                 true,
		"select $a$ $$ ' $a$; truncate x; select ''":                                     true,
		"select $a$ $b$ $c$ $d$ $e$ $e$ $d$ $c$ $b$ $a$; -- rename":                      true,
		"select E'it\\'s'; truncate x; select ''":                                        true,
		"select q'[it's]' from dual; truncate x; select ''":                              true,
		"select [it's] from a; truncate x; select [it's]":                                true,
		"select `it's`; truncate x; select `it's`":                                       true,
		"# it's\ntruncate x; -- '":                                                       true,
		"// it's\ntruncate x; -- '":                                                      true,
		"/* /* */ ' */ truncate x; -- '":                                                 true,
		"/* /* */ truncate x; -- */":                                                     true,
		"/* never closed\ndrop table x":                                                  true,
		"select 'never closed; drop table x":                                             true,
		"EXEC sp_rename 'a', 'b'":                                                        true,
		"exec dbo.sp_rename 'a', 'b'":                                                    true,
		"EXEC('drop table x')":                                                           true,
		"execute immediate 'truncate x';":                                                true,
		"set @a = 'drop table x'; prepare p from @a;":                                    true,
		"prepare p from \"drop table x\";":                                               true,
		"select 'drop table ' || name from t \\gexec":                                    true,
		"truncate `a b`;":                                                                true,
		"truncate [a b]":                                                                 true,
		"truncate \"a\";":                                                                true,
		"drop {{ kind }} x;":                                                             true,
		"create global temporary table x (a int);":                                       true,
		"select 1 create clustered index i on t(a)":                                      true,
		"if 1 = 1 begin truncate x end":                                                  true,
		"/*M!100301 truncate x */":                                                       true,
		"insert into t values ('create table a');":                                       false,
		"insert into t values ('it''s; drop table a');":                                  false,
		"insert into t values ('a\n drop table a');":                                     false,
		"select \"drop table a\" from t;":                                                false,
		"select truncate(a, 2), replace(b, 'x', 'y') from t;\n":                          false,
		"select\n  truncate(a, 2)\nfrom t;\n":                                            false,
		"show create table t;":                                                           false,
		"create or replace temp view a as select 1;":                                     false,
		"drop temporary table t;":                                                        false,
		"select rename, create_at, dropped from t where alter_ = 1;":                     false,
		"/* nothing is dropped; drop table x; */ select 1;":                              false,
	} {
		if got := DefinesSchema([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for name, want := range map[string]bool{
		"a.sql": true, "a/B.SQL": true, "a.ddl": true, "a.pgsql": true, "a.psql": true, "a.mysql": true, "a.cql": true, "a.hql": true, "a.prc": true,
		"a.sql.erb": true, "a.sql.j2": true, "a.sql.gz": true, "sql": false, "a.sql.md": false, "query.sql.go": false, "a.sql/b.txt": false,
	} {
		if ReadsSQL(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// sqlHiding is what dialects can have between two statements, whatever stands in
// it: a text is made of a content that the function takes what would end it from.
var sqlHiding = map[string][]struct{ open, close, gone string }{
	"standard": {{"-- ", "\n", "\n\r"}, {"/* ", " */", "*/\\"}, {"'", "'", "'\\"}, {`"`, `"`, `"\`}},
	"Oracle":   {{"-- ", "\n", "\n\r"}, {"/* ", " */", "*/"}, {"'", "'", "'"}, {"q'[", "]'", "]"}, {"nq'!", "!'", "!"}, {`"`, `"`, `"`}},
	"PostgreSQL": {
		{"--", "\n", "\n\r"}, {"/*", "*/", "*/"}, {"/* /*", "*/ */", "*/"}, {"'", "'", "'"}, {"E'\\'", "'", `'\`}, {"$$", "$$", "$"}, {"$a1$", "$a1$", "$"}, {`"`, `"`, `"`},
	},
	"MySQL":      {{"-- ", "\n", "\n"}, {"# ", "\n", "\n"}, {"/* ", "*/", "*/"}, {`'\'`, "'", `'\`}, {`"\"`, `"`, `"\`}, {"`", "`", "`"}},
	"SQL Server": {{"--", "\n", "\n\r"}, {"/*", "*/", "*/"}, {"'", "'", "'"}, {"[", "]", "]"}, {`"`, `"`, `"`}},
	"SQLite":     {{"--", "\n", "\n\r"}, {"/*", "*/", "*/"}, {"'", "'", "'"}, {"[", "]", "]"}, {"`", "`", "`"}},
	"Cassandra":  {{"--", "\n", "\n\r"}, {"//", "\n", "\n\r"}, {"/*", "*/", "*/"}, {"'", "'", "'"}, {"$$", "$$", "$"}},
	"Hive":       {{"--", "\n", "\n\r"}, {"/*", "*/", "*/"}, {`'\'`, "'", `'\`}, {`"\"`, `"`, `"\`}, {"`", "`", "`"}},
	"BigQuery":   {{"--", "\n", "\n\r"}, {"#", "\n", "\n\r"}, {"/*", "*/", "*/"}, {`'\'`, "'", `'\`}, {"`", "`", "`"}},
}

// between makes comments and strings of one dialect of random bytes: the first
// of each eight says of what kind one is.
func between(dialect string, random []byte) string {
	var out strings.Builder
	kinds := sqlHiding[dialect]
	for part := range slices.Chunk(random, 8) {
		kind := kinds[int(part[0])%len(kinds)]
		content := strings.Map(func(c rune) rune {
			if strings.ContainsRune(kind.gone, c) {
				return -1
			}
			return c
		}, string(part[1:]))
		out.WriteString(" " + kind.open + content + kind.close)
	}
	return out.String()
}

// TestHiding: whatever stands between two statements, the second is seen.
func TestHiding(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	const signs = "'\"`[]()$$$--//**##\\;\n\r aeqN1%"
	for range 1_000 {
		content := make([]byte, 8*random.IntN(6))
		for i := range content {
			content[i] = signs[random.IntN(len(signs))]
			if i%8 == 0 {
				content[i] = byte(random.IntN(256))
			}
		}
		for dialect := range sqlHiding {
			seesSecond(t, dialect, content)
		}
	}
}

func seesSecond(t *testing.T, dialect string, content []byte) {
	t.Helper()
	hidden := between(dialect, content)
	for _, text := range []string{"select 1" + hidden + "; truncate t;", "select 1;" + hidden + " truncate t;", hidden + "\nalter" + " /**/ table t;"} {
		if !DefinesSchema([]byte(text)) {
			t.Fatalf("not seen in %s: %q", dialect, text)
		}
	}
}

func FuzzHiding(f *testing.F) {
	for dialect := range sqlHiding {
		f.Add(dialect, []byte("\x00'--/*' \n\x01$$'\"[`\\;"))
	}
	f.Fuzz(func(t *testing.T, dialect string, content []byte) {
		if sqlHiding[dialect] != nil {
			seesSecond(t, dialect, content)
		}
	})
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
