/** Checks that docs/requirements.md has each requirement once, with an existing test. */
import t from 'tap'
import { isNamedTest } from './named-tests.ts'
import { read } from './source.ts'

/** The number of rows in each section, as an audit of the contract counted the requirements. */
const counts: Record<string, Record<string, number>> = {
  Router: {
    'What the service does': 6,
    'Routing object and its rules': 11,
    'Response headers': 15,
    'Idempotency-Key': 5,
    'LLM response identity': 3,
    'Fields of chat, speech and transcription': 14,
    'Idempotent states': 4,
    'One terminal event': 2,
    'Realtime session, step by step': 8,
    'Router endpoints and their queries': 9,
    'Compatible endpoints': 9,
    'Realtime routes': 2,
    'Authentication of the router': 5,
    Events: 16,
    Errors: 12,
    Limits: 8,
    'Versioning of the router': 4,
  },
  Platform: {
    'What the platform does': 7,
    'Agent and its scope': 10,
    'Call and its list': 22,
    'Call report': 19,
    'Transcript entry, call event and transfer': 40,
    'Warm transfer and cancel': 3,
    'Delivery record and webhook endpoint': 23,
    'Provider key status and its resolution': 8,
    'Rich-message number and its pool': 11,
    'Send result and subscription': 19,
    'SMS registration: overview, brand and campaign': 33,
    'States and assignments': 13,
    'Agents and sessions': 6,
    'Phone numbers and inbound routing': 14,
    'Calls and transfer_call': 10,
    'Workspace webhooks, providers, SMS and rich messages': 27,
    'Rules of rich messages': 5,
    'Authentication of the platform': 6,
    'Lifecycle webhooks and their rules': 11,
    'Rich-message webhooks': 18,
    'Errors of the platform': 25,
    'Limits of the platform': 11,
    'Versioning of the platform': 4,
  },
}

type Row = { name: string; place: string; tests: string[] }
type Section = { title: string; said: number; rows: Row[] }

const documents = read('docs/requirements.md')
  .split(/^## /m)
  .slice(1)
  .map((text) => ({
    title: text.slice(0, text.indexOf('\n')),
    sections: text.split(/^### /m).slice(1).map(sectionOf),
  }))
const sections = documents.flatMap((document) => document.sections)

function sectionOf(text: string): Section {
  const [, title = '', said] = /^(.*) \((\d+)\)\n/.exec(text) ?? []
  const [, , ...lines] = text.split('\n').filter((line) => line.startsWith('|'))
  return { title, said: Number(said), rows: lines.map(rowOf) }
}

function rowOf(line: string): Row {
  const [, name = '', place = '', tests = ''] = line.split('|').map((cell) => cell.trim())
  return { name, place, tests: tests.split('<br>') }
}

t.test('each section of docs/requirements.md has the audited number of rows, and states the number', (t) => {
  const found = documents.map(({ title, sections }) => [
    title,
    Object.fromEntries(sections.map((section) => [section.title, section.rows.length])),
  ])
  t.same(Object.fromEntries(found), counts)
  for (const { title, said, rows } of sections) t.equal(said, rows.length, title)
  t.equal(
    sections.reduce((sum, { rows }) => sum + rows.length, 0),
    478,
  )
  t.end()
})

t.test('no row of docs/requirements.md occurs twice, and no row has an empty name or location', (t) => {
  for (const { title, rows } of sections) {
    const names = rows.map(({ name }) => name)
    t.same([...new Set(names)], names, title)
    t.ok(
      rows.every(({ name, place }) => name !== '' && place !== ''),
      title,
    )
  }
  t.end()
})

t.test('every test named in a row of docs/requirements.md exists', (t) => {
  for (const test of new Set(sections.flatMap(({ rows }) => rows.flatMap(({ tests }) => tests))))
    t.ok(isNamedTest(test), test)
  t.end()
})
