package lane

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/policy"
)

// pathSignals are paths of common ecosystems, by the signals that new files
// there give.
var pathSignals = map[string][]string{
	"": {
		"README.md", "docs/guide.txt", "config/app.yml", "assets/logo.png", "web/tsconfig.json", "queries/select.sql",
		"lib/author.py", "src/tokenizer.py", "src/authors/list.py", "internal/api/handler.go",
		// Pictures, styles and prose, whatever they are called.
		"app/assets/login.svg", "public/auth/logo.png", "src/login.css", "src/auth/style.scss", "docs/security.rst", "docs/auth/index.html", "static/api/icon.ico",
		"docs/api/index.html", "docs/api/usage.rst", "api/diagram.webp", "contracts/overview.adoc", "src/security/lock.gif", "src/login/back.jpg",
		// Words for people, and what others wrote.
		"i18n/login.json", "locales/en/auth.ts", "config/locales/password.yml", "node_modules/x/api/index.js", "node_modules/x/index.d.ts",
		"vendor/x/api.proto", "third_party/include/a.h", "third_party/openapi/x.yaml",
		"app/migrations/__init__.py", "prisma/migrations/migration_lock.toml", "migrations/README.md", "contracts/Token.sol",
		// Tests, by the conventions of their languages.
		"tests/auth/test_login.py", "auth_test.go", "src/auth.test.ts", "src/test/java/AuthTest.java", "src/auth/LoginTest.java", "src/auth/LoginTests.kt",
		"src/auth/LoginIT.java", "app/auth/tests.py", "spec/auth/login_spec.rb", "src/auth/__tests__/login.tsx", "auth/testdata/key.pem", "App.Tests/Auth/Login.cs",
		"src/androidTest/kotlin/auth/Login.kt", "src/auth/login-test.js", "auth/LoginSpec.groovy", "src/auth.spec.mts", "test/auth.bats", "t/auth.t",
		"tests/api/users.py", "api/users_test.py",
	},
	"migration": {
		"db/migrate/20260101_add.rb", "app/migrations/0001_initial.py", "alembic/versions/1.py", "sql/V1__init.sql", "sql/1.up.sql", "prisma/schema.prisma",
		"DB/Migrations/1.SQL", "schema.sql", "db/structure.sql",
		"db/migrate/20240101_add_test.rb", "migrations/0002_test.up.sql", "src/main/resources/db/migration/V3__add_test.sql", "migrations/test_results.sql",
		"migrations/0002_test.py", "db/migrate/20240101_add_spec.rb", "migrations/test/0001.py", "database/migrations/2024_01_01_create_test.php",
		"alembic/versions/abc_add_test.py", "myapp/migrations/0003_load_test.py",
		"src/main/resources/db/changelog/changes/001.yaml", "db/changelog/master.xml", "prisma/schema/user.prisma", "db/queue_schema.rb", "db/schema.rb",
		"db/cable_structure.sql", "drizzle/meta/0001_snapshot.json", "src/main/java/x/V2__Add.java", "sql/R__views.sql", "sql/U2__undo.sql", "tests/migrations/1.py",
	},
	"contract": {
		"proto/a.proto", "schema.graphql", "contracts/orders.json",
		"spec/openapi.yaml", "docs/specs/openapi.yaml", "openapi.spec.yaml", "api.spec.json", "specs/user.proto", "proto/load_test.proto", "tests/user.proto",
		"x/a.gql", "x/a.xsd", "x/a.fbs", "x/a.capnp", "x/a.tsp", "x/a.avdl", "x/a.avpr", "x/a.idl", "x/a.yang", "x/a.wadl",
		"openapi/paths/users.yaml", "docs/openapi/index.json", "events/order.schema.json", "buf.yaml", "contracts/Order.java",
	},
	"contract public-api": {"api/openapi.yaml", "api/spec/openapi.yaml"},
	"security": {
		"src/auth/login.ts", "app/models/password_reset.rb", "src/main/java/x/AuthController.java", "certs/server.pem", ".env.production",
		"src/main/java/x/security/TokenSpec.java", "src/main/java/x/security/DeviceAttest.java", "src/main/kotlin/auth/SecretKeySpec.kt",
		"src/auth/Contest.java", "src/auth/Latest.java", "src/auth/AUDIT.java", "spec/auth/token.go", "auth/load_test.yml",
		"config/credentials.yml.enc", "config/credentials/production.yml.enc", "CODEOWNERS", ".github/CODEOWNERS", "app/controllers/concerns/authentication.rb",
		"app/controllers/sessions_controller.rb", "app/controllers/passwords_controller.rb", "app/models/ability.rb", "config/initializers/devise.rb",
		"app/authentication.py", "src/main/java/x/WebSecurityConfig.java", "src/main/java/x/SecurityConfiguration.kt", "src/main/java/x/JwtFilter.java",
		"infra/iam.tf", "infra/iam_roles.tf", "k8s/secret.yaml", "k8s/secrets-prod.yaml", "k8s/db-secret.yml", "prod.tfvars", "src/login.html",
	},
	"public-api": {
		"include/lib.h", "types/index.d.ts", "src/api/users.ts", "src/lib.rs", "crates/a/src/lib.rs", "config/routes.rb", "shop/urls.py", "src/index.ts", "packages/a/src/index.js",
		"api/Contest.java",
	},
}

// TestDefaultPaths holds what the patterns make of paths.
func TestDefaultPaths(t *testing.T) {
	cfg := policy.Default().Lanes
	for want, paths := range pathSignals {
		for _, path := range paths {
			var names []string
			for _, s := range Signals([]File{{Path: path, Added: true}}, nil, &cfg) {
				if s.Name != "untested" {
					names = append(names, s.Name)
				}
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		}
	}
}

// TestOff: an empty list switches a signal off, whatever a file's content says.
func TestOff(t *testing.T) {
	cfg := policy.Default().Lanes
	cfg.Migrations, cfg.PublicAPI = nil, nil
	files := []File{{Path: "migrations/a.sql", Schema: true}, {Path: "p/a.go", API: []string{"F"}, Gone: []string{"G"}, Looked: true, OwnTests: true}}
	if got := told(Signals(files, nil, &cfg)); got != "" {
		t.Errorf("%q", got)
	}
}
