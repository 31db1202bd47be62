package lane

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/policy"
)

// pathSignals are paths in common ecosystems, by the signal that a new file there gives.
var pathSignals = map[string][]string{
	"": {
		"README.md", "docs/guide.txt", "config/app.yml", "assets/logo.png", "web/tsconfig.json", "queries/select.sql",
		"lib/author.py", "src/tokenizer.py", "src/authors/list.py", "internal/api/handler.go", "app/plugin.js",
		"app/assets/login.svg", "public/auth/logo.png", "src/login.css", "src/auth/style.scss", "docs/security.rst", "docs/auth/index.html",
		"src/login.html", "src/views/_LoginPartial.cshtml", "src/auth/Login.vue",
		"i18n/login.json", "config/locales/password.yml", "node_modules/x/api/index.js",
		"vendor/x/api.proto", "third_party/openapi/x.yaml", "vendor/auth/login.go",
		"app/migrations/__init__.py", "lib/migrate.go", "store/migrator.go", "prisma/migrations/migration_lock.toml", "migrations/README.md", "lib/api/controllers/migration/import.ts", "src/stories.go", "contests/a.py",
		"tests/auth/test_login.py", "auth_test.go", "src/auth.test.ts", "src/test/java/AuthTest.java", "src/auth/LoginTests.kt",
		"app/auth/tests.py", "spec/auth/login_spec.rb", "src/auth/__tests__/login.tsx", "auth/testdata/key.pem", "App.Tests/Auth/Login.cs",
		"fixtures/certs/server.key", ".env.example", ".env.template", "src/auth/templates/mail.txt", ".github/workflows/security.yml", "web/yarn.lock",
	},
	"migration": {
		"db/migrate/20260101_add.rb", "app/migrations/0001_initial.py", "alembic/versions/1.py", "sql/V1__init.sql", "sql/1.up.sql", "prisma/schema.prisma",
		"DB/Migrations/1.SQL", "schema.sql", "db/structure.sql", "internal/database/migrations.go",
		"api/migrations/0002.py", "packages/api/prisma/schema.prisma", "db/migrate/20240101_add_test.rb", "src/main/resources/db/migration/V3__add_test.sql", "migrations/test_results.sql", "migrations/0002_test.py",
		"src/main/resources/db/changelog/changes/001.yaml", "db/queue_schema.rb", "src/main/java/x/V2__Add.java", "sql/R__views.sql",
	},
	"contract": {
		"proto/a.proto", "schema.graphql", "x/a.gql", "x/a.xsd", "x/a.avsc", "spec/openapi.yaml", "docs/specs/openapi.yaml", "api/swagger.json",
		"openapi/paths/users.yaml", "events/order.schema.json", "proto/load_test.proto",
	},
	"security": {
		"src/auth/login.ts", "locales/en/auth.ts", "contests/auth.py", "src/latest/auth.ts", "src/hammock_auth.go", "app/models/password_reset.rb", "src/main/java/x/AuthController.java", "certs/server.pem", ".env.production", ".env",
		"config/credentials.yml.enc", "CODEOWNERS", ".github/CODEOWNERS", "app/controllers/sessions_controller.rb", "app/models/ability.rb",
		"config/initializers/devise.rb", "app/authentication.py", "src/main/java/x/WebSecurityConfig.java", "src/main/java/x/JwtFilter.java", "infra/iam.tf",
		"k8s/db-secret.yml", "prod.tfvars", "web/csrf.go", "lib/sanitizer.rb", "server/csp.go", "server/middlewares.go", "app/auth.go", "src/user_auth.py",
	},
}

// TestDefaultPaths checks the patterns with these paths.
func TestDefaultPaths(t *testing.T) {
	cfg := *defaultSettings()
	for want, paths := range pathSignals {
		for _, path := range paths {
			names := want
			if want != "" {
				names += "=" + path
			}
			if got := told(Signals([]File{{Path: path, Added: true, Lines: 1}}, &cfg)); got != names {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		}
	}
}

// told writes signals as name=files.
func told(signals []Signal) string {
	var parts []string
	for _, s := range signals {
		parts = append(parts, s.Name+"="+strings.Join(s.Files, ","))
	}
	return strings.Join(parts, " ")
}

// TestLocks: lock files of common ecosystems do not count.
func TestLocks(t *testing.T) {
	cfg := *defaultSettings()
	for _, name := range []string{
		".terraform.lock.hcl", "modules/a/.terraform.lock.hcl", "conda-lock.yml", "cabal.project.freeze", "stack.yaml.lock",
		"gradle.lockfile", "Podfile.lock", "pubspec.lock", "mix.lock", "flake.lock", "uv.lock", "poetry.lock", "Pipfile.lock", "bun.lock", "bun.lockb",
		"yarn.lock", "pnpm-lock.yaml", "package-lock.json", "npm-shrinkwrap.json", "packages.lock.json", "Package.resolved", "Cartfile.resolved",
		"go.sum", "go.work.sum", "Cargo.lock", "Gemfile.lock", "gems.locked", "composer.lock", "MODULE.bazel.lock", "cpanfile.snapshot",
	} {
		if IsWork(name, &cfg) || IsWork("web/"+name, &cfg) {
			t.Errorf("%s counts", name)
		}
	}
	for _, name := range []string{".small/progress.small.yml", "a/.small/plan.small.yml", policy.File} {
		if Counts(name) {
			t.Errorf("%s counts", name)
		}
	}
}

// TestProjectPatterns: a project adds to the patterns, excludes paths from them, and turns a signal off in one word.
func TestProjectPatterns(t *testing.T) {
	cfg := *defaultSettings()
	cfg.Patterns = map[string][]string{
		"migrations": {"seeds/**", "!scratch/**"}, "reversible": {"seeds/**"}, "ignore": {"**/*.tsv", "!vendor/ours/**"}, "documents": {"manual/**"},
	}
	for path, want := range map[string]string{
		"seeds/1.txt": "migration=seeds/1.txt", "db/migrate/1.rb": "migration=db/migrate/1.rb", "scratch/migrations/1.rb": "",
		"auth/a.tsv": "", "vendor/ours/auth/a.go": "security=vendor/ours/auth/a.go", "manual/auth/a.go": "",
	} {
		if got := told(Signals([]File{{Path: path, Lines: 1}}, &cfg)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := Fits(Signals([]File{{Path: "seeds/1.txt", Lines: 1}}, &cfg)); got != Standard {
		t.Errorf("what can be taken back is %s", got)
	}
	cfg.Off = []string{"migration"}
	if got := told(Signals([]File{{Path: "db/migrate/1.rb", Lines: 1}}, &cfg)); got != "" {
		t.Errorf("switched off: %q", got)
	}
}

// TestPatternKeys: the configuration has a key for each default list.
func TestPatternKeys(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(slices.Values(PatternKeys)), slices.Sorted(maps.Keys(defaults))); diff != "" {
		t.Errorf("the keys of the configuration differ:\n%s", diff)
	}
}
