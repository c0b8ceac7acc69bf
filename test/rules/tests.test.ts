/**
 * Checks tests: only a few may start the built program, and documents name only existing lanes (named sets of tests).
 */
import path from 'node:path'
import t from 'tap'
import { filesOfLane } from '../runner/files.mjs'
import { code, files, importsOf, parse, read } from './source.ts'

const tests = code.filter((file) => file.startsWith('test/') && file.endsWith('.ts'))
const imports = new Map(tests.map((file) => [file, importsOf(parse(file), { types: false })]))

const starters = ['test/process/parley.ts', 'test/process/command.ts']

/** This file names programs but starts no program, so it is exempt. */
const ruleFile = 'test/rules/tests.test.ts'

t.test('no test in the lane `fast` (a named set of tests) starts the built program', (t) => {
  for (const file of filesOfLane('fast').filter((file) => file !== ruleFile)) {
    const starter = starters.find((starter) => reachedFrom(file).has(starter))
    t.equal(starter, undefined, file)
  }
  t.ok(filesOfLane('process').some((file) => starters.some((starter) => reachedFrom(file).has(starter))))
  t.end()
})

/** Returns all files that a file imports or runs, directly or through other files. */
function reachedFrom(file: string): Set<string> {
  const reached = new Set([file])
  for (const each of reached) for (const next of [...(imports.get(each) ?? []), ...programsIn(each)]) reached.add(next)
  return reached
}

/** Returns test files that a file names by a path, because it starts them in a process. */
function programsIn(file: string): string[] {
  const named = [...read(file).matchAll(/(?<!from |import\()'([\w./-]+\.ts)'/g)].flatMap(([, name = '']) => [
    path.join(path.dirname(file), name),
    name,
  ])
  return named.filter((name) => imports.has(name))
}

t.test('random choices of a test come from the seed of test/random.ts', (t) => {
  const drawing = tests.filter((file) => file !== ruleFile && /Math\.random\(\)|from 'fast-check'/.test(read(file)))
  t.same(drawing, ['test/random.ts'])
  t.end()
})

t.test('CONTRIBUTING.md lists exactly the lanes (named sets of tests) of the runner', (t) => {
  const lanes = [...read('test/runner/lanes.mjs').matchAll(/^ {2}'?([\w-]+)'?: \{/gm)].map(([, lane]) => lane)
  const rows = [...read('CONTRIBUTING.md').matchAll(/^\| `([\w-]+)` \|/gm)].map(([, lane]) => lane)
  t.ok(lanes.length > 15)
  t.same(rows.toSorted(), lanes.toSorted())
  t.end()
})

t.test('each lane (named set of tests) in a command of a document exists', (t) => {
  const lanes = new Set([...read('test/runner/lanes.mjs').matchAll(/^ {2}'?([\w-]+)'?: \{/gm)].map(([, lane]) => lane))
  const documents = files.filter((file) => /^docs\/.*\.md$/.test(file))
  for (const file of [...code, ...documents, 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']) {
    for (const [, lane] of read(file).matchAll(/make test-all LANE=([\w-]+)/g))
      t.ok(lanes.has(lane), `${file}: ${lane}`)
  }
  t.end()
})
