import tseslint from 'typescript-eslint'

/**
 * Allowed imports by folder. Only app/ constructs, so it may import the whole product. test/ and bench/ may import
 * everything.
 */
const mayImport = {
  app: [
    'audio',
    'runtime',
    'generated',
    'domain',
    'store',
    'providers',
    'handlers',
    'simulator',
    'mock',
    'cli',
    'codegen',
    'conform',
  ],
  audio: [],
  runtime: ['audio'],
  generated: ['runtime'],
  domain: ['generated', 'audio'],
  store: ['domain', 'generated', 'runtime'],
  providers: ['domain', 'generated', 'runtime', 'audio'],
  handlers: ['domain', 'generated', 'runtime', 'audio'],
  simulator: ['runtime', 'audio'],
  mock: ['generated', 'runtime', 'audio'],
  cli: ['generated'],
  conform: ['generated', 'codegen', 'audio'],
  codegen: [],
}
const folders = Object.keys(mayImport)
const direction = folders.map((folder) => {
  const refused = [...folders, 'test', 'bench'].filter((f) => f !== folder && !mayImport[folder].includes(f))
  const message = `${folder}/ may import only: ${mayImport[folder].join(', ') || 'nothing of ours'}`
  const pattern = {
    regex: `^(\\.\\./)+(main\\.ts|(${refused.join('|')})/)`,
    message,
  }
  return { files: [`${folder}/**/*.ts`], rules: { 'no-restricted-imports': ['error', { patterns: [pattern] }] } }
})

/**
 * Allowed imports inside the console's program. Only data/ calls the generated clients; other folders take just their
 * types. A page imports no other page.
 */
const consoleMayImport = { data: [], parts: ['data'], pages: ['data', 'parts'], shell: ['data', 'parts', 'pages'] }
const inConsole = Object.entries(consoleMayImport).map(([folder, allowed]) => {
  const refused = Object.keys(consoleMayImport).filter((other) => other !== folder && !allowed.includes(other))
  const patterns = [
    {
      regex: `^(\\.\\./)+(${[...refused, 'main'].join('|')})[/.]`,
      message: `${folder}/ may import only: ${allowed.join(', ')}`,
    },
    ...(folder === 'data'
      ? []
      : [{ regex: '/generated/', allowTypeImports: true, message: 'data/ calls the clients' }]),
    { regex: `^(\\.\\./){3,}(?!session/|generated/(clients/typescript|console)/)`, message: 'nothing of the server' },
    ...(folder === 'pages' ? [{ regex: '^\\.\\./[a-z]', message: 'a page imports no other page' }] : []),
  ]
  return {
    files: [`console/app/${folder}/**/*.{ts,tsx}`],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] },
  }
})

export default tseslint.config(
  { ignores: ['dist', 'dist-*', 'generated', 'test/codegen/golden', '.tap', '.cache', '**/*.js', '**/*.mjs'] },
  ...tseslint.configs.recommendedTypeChecked,
  { languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } } },
  {
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
      'no-restricted-syntax': ['error', { selector: 'ImportExpression', message: 'import statically' }],
      'max-lines-per-function': ['error', { max: 70, skipComments: true, skipBlankLines: true }],
      'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }],
    },
  },
  // Optional dependencies are loaded at their use, only in the first two files. The bench loads the built program. The
  // gateway checks its answers only when it runs from sources, so the build leaves the checks out.
  {
    files: ['providers/registry.ts', 'runtime/optional.ts', 'bench/decision.ts', 'app/gateway.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  // A page's code is loaded when the page is first opened.
  { files: ['console/app/shell/*routes.{ts,tsx}'], rules: { 'no-restricted-syntax': 'off' } },
  // If a command only sends requests, it must not wait until the server is loaded.
  { files: ['app/commands/actions.ts'], rules: { 'no-restricted-syntax': 'off' } },
  // A test is a closure in a closure; node:test-like callbacks are awaited by the runner.
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: { 'max-lines-per-function': 'off', '@typescript-eslint/no-floating-promises': 'off' },
  },
  ...direction,
  ...inConsole,
)
