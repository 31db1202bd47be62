package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Parts of patterns that several lists have.
const (
	// prose is what people read, and pictures and styles whatever their names are.
	prose = "!**/*.{md,rst,adoc,txt,png,jpg,jpeg,gif,svg,webp,ico,css,scss,less}"
	// copies are of others, and so is what they offer.
	copies = "!**/{node_modules,vendor,third_party}/**"
)

// defaultLanes is what holds without a configuration.
func defaultLanes() Lanes {
	return Lanes{
		Files: 3, Lines: 200,
		Migrations: []string{
			"**/{migrations,migration}/**", "**/db/migrate/**", "**/db/changelog/**", "**/alembic/versions/**", "**/{flyway,liquibase}/**",
			"**/{v[0-9]*,u[0-9]*,r}__*.{sql,java,kt}", "**/*.{up,down}.sql", "**/{schema,structure}.sql", "**/db/{,*_}schema.rb", "**/db/*_structure.sql",
			"**/schema.prisma", "**/prisma/schema/**/*.prisma", "**/drizzle/meta/*_snapshot.json",
			"!**/*.{md,rst,txt}", "!**/migrations/__init__.py", "!**/migration_lock.toml",
		},
		PublicAPI: []string{
			"**/api/**", "**/public/api/**", "**/include/**/*.{h,hh,hpp,hxx}", "**/*.d.ts", "**/*.pyi", "**/src/lib.rs", "**/src/index.{ts,js}",
			"**/config/routes.rb", "**/urls.py", "!**/internal/**", copies, prose, "!**/docs/**/*.html",
		},
		Contracts: []string{
			"**/*.{proto,thrift,avsc,avdl,avpr,graphql,graphqls,gql,wsdl,wadl,xsd,raml,smithy,fbs,capnp,tsp,idl,yang}",
			"**/*{openapi,swagger,asyncapi}*.{yml,yaml,json}", "**/{openapi,swagger,asyncapi}/**/*.{yml,yaml,json}", "**/api.spec.{yml,yaml,json}",
			"**/*.schema.json", "**/buf.yaml", "**/{contracts,pacts}/**", "!**/contracts/**/*.sol", copies, prose, "!**/docs/**/*.html",
		},
		Security: []string{
			"**/{auth,authn,authz,oauth,oauth2,oidc,saml,sso,iam,rbac,acl,security,crypto,secrets,permissions}/**",
			"**/{auth,authn,authz,authentication,authorization,oauth,login,logout,session,password,passwd,permission,permissions}.*",
			"**/{crypto,security,secrets,rbac,acl,csrf,cors,jwt,iam}.*", "**/{auth,login,password,permission,crypto,security,oauth,jwt,iam}[_-]*.*",
			"**/*[_-]{auth,login,password,permissions,crypto,security,oauth,jwt}.*", "**/auth{controller,service,middleware,handler,guard}*.*",
			"**/{sessions,passwords}_controller.rb", "**/ability.rb", "**/initializers/devise.rb", "**/{jwt,*securityconfig}*.{java,kt}",
			"**/*.{pem,key,p12,pfx,jks}", "**/.env*", "**/sudoers*", "**/codeowners", "**/*.yml.enc", "**/*.tfvars", "**/{secret,*-secret}*.{yml,yaml}",
			"!**/{i18n,locales}/**", prose, "!**/docs/**/*.html",
		},
		Tests: []string{
			"**/{test,tests,Test,Tests,__tests__,testdata,e2e}/**", "**/src/*Test/**", "**/*{.Test,Tests}/**", "**/{spec,specs}/**/*.{rb,js,jsx,ts,tsx}",
			"**/*_test.{go,py,rb,exs,dart,c,cc,cpp,clj,cljs,cljc,sh}", "**/test_*.{py,rb,c,cc,cpp,jl,sh}", "**/*_spec.rb",
			"**/*[._-]{test,spec}.{js,jsx,ts,tsx,mjs,cjs,mts,cts}", "**/tests.{py,rs}", "**/conftest.py", "**/*{Test,Tests,TestCase}.{java,kt,scala,groovy,cs,php,swift}",
			"**/*[a-z0-9]IT.{java,kt}", "**/*Spec.groovy", "**/*.bats", "**/t/**/*.t",
		},
		Ignore: []string{
			"**/*.lock", "**/*.lockfile", "**/bun.lockb", "**/gems.locked", "**/{package,cartfile}.resolved",
			"**/go.sum", "**/go.work.sum", "**/{pnpm,conda}-lock.{yml,yaml}", "**/cabal.project.freeze", "**/cpanfile.snapshot", "**/.terraform.lock.hcl",
			"**/{package-lock,npm-shrinkwrap,packages.lock,project.lock,brewfile.lock,dub.selections,lake-manifest}.json",
		},
		Standard: Rigour{Strict: true},
		Deep: Rigour{
			Strict: true, WarningsAreErrors: true, NoInsertions: true, Rules: map[string]Level{"replay/stale": Error},
			Before: []string{"meta/analysis"}, After: []string{"meta/qa"},
		},
	}
}

// MatchPath reports whether a list of a Lanes matches a path.
func MatchPath(patterns []string, path string) bool {
	path = strings.ToLower(path)
	return match(patterns, func(pattern string) (string, string) { return strings.ToLower(pattern), path })
}

// IsTest reports whether a path is one of a test.
func (l *Lanes) IsTest(path string) bool {
	return match(l.Tests, func(pattern string) (string, string) { return pattern, path })
}

// match reports whether patterns match what is to be compared with each.
func match(patterns []string, compared func(pattern string) (string, string)) bool {
	matched := false
	for _, pattern := range patterns {
		rest, not := strings.CutPrefix(pattern, "!")
		if matched && !not {
			continue
		}
		pattern, path := compared(rest)
		if !matchOne(pattern, path) {
			continue
		}
		if not {
			return false
		}
		matched = true
	}
	return matched
}

// ExcludesPath reports whether a pattern of a list of a Lanes that begins with !
// matches a path.
func ExcludesPath(patterns []string, path string) bool {
	path = strings.ToLower(path)
	for _, pattern := range patterns {
		rest, not := strings.CutPrefix(strings.ToLower(pattern), "!")
		if not && matchOne(rest, path) {
			return true
		}
	}
	return false
}

// matchOne reports whether a pattern matches a path. Most are about a name in
// any folder, and then there is no need to try every folder.
func matchOne(pattern, path string) bool {
	if name, ok := strings.CutPrefix(pattern, "**/"); ok && !strings.Contains(name, "/") && !strings.Contains(name, "**") {
		pattern, path = name, path[strings.LastIndexByte(path, '/')+1:]
	}
	// The patterns were checked when they were read.
	ok, err := doublestar.Match(pattern, path)
	return err == nil && ok
}
