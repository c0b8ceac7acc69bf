/** A process that seems to have ended goes on appending to its journal, while other processes adopt the file. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { type JournalRow, SettlementJournal } from '../../store/billing/settlement-journal.ts'
import { silent } from './cluster.ts'

type Row = { requestId: string }

const row = (requestId: string): JournalRow<Row> => ({
  requestId,
  organizationId: 'org_1',
  choice: { id: 'choice', text: 'because' },
})
const allEnded = () => Promise.resolve(false)

function setup(t: Test) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'parley-test-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const folder = path.join(dataDir, 'settlements')
  const journal = (instanceId: string) =>
    new SettlementJournal<Row>({ dataDir, instanceId, columns: 'v1', bytesMax: 1_000_000, log: silent })
  const written: string[] = []
  const texts: (string | null)[] = []
  const write = (rows: readonly JournalRow<Row>[]) => {
    written.push(...rows.map(({ requestId }) => requestId))
    texts.push(...rows.map(({ choice }) => choice.text))
    return Promise.resolve()
  }
  return { folder, journal, written, texts, write }
}

t.test('a settlement journal file of an ended process is adopted by only one process', async (t) => {
  const { folder, journal, written, write } = setup(t)
  await journal('a').append([row('1'), row('2')])
  await journal('b').adopt(allEnded, async (rows) => {
    await journal('c').adopt((id) => Promise.resolve(id === 'b'), write)
    t.same(written, [], 'the other process writes nothing')
    await write(rows)
  })
  t.same(written, ['1', '2'])
  t.same(readdirSync(folder), [])
})

t.test("a row appended during its file's adoption goes to a new file with its routing choice", async (t) => {
  const { folder, journal, written, texts, write } = setup(t)
  const a = journal('a')
  await a.append([row('1')])
  await journal('b').adopt(allEnded, async (rows) => {
    await write(rows)
    await a.append([row('2')])
  })
  t.same(readdirSync(folder), ['a.jsonl'])
  t.equal(a.rows, 1)
  await a.replay(write)
  t.same(
    [written, texts],
    [
      ['1', '2'],
      ['because', 'because'],
    ],
  )
  t.same([readdirSync(folder), a.rows], [[], 0])
})

t.test('if a journal file is adopted during its replay, later rows go to a new file', async (t) => {
  const { folder, journal, written, write } = setup(t)
  const a = journal('a')
  await a.append([row('1')])
  await a.replay(async (rows) => {
    await write(rows)
    await journal('b').adopt(allEnded, write)
    await a.append([row('2')])
  })
  t.match(readFileSync(path.join(folder, 'a.jsonl'), 'utf8'), /"requestId":"2"/)
  await a.replay(write)
  t.same(written, ['1', '1', '2'])
  t.notOk(existsSync(path.join(folder, 'a.jsonl')))
})

t.test('rows that are appended during the adoption of a file are not lost', async (t) => {
  const { journal, written, write } = setup(t)
  const a = journal('a')
  const ids = Array.from({ length: 200 }, (_, index) => String(index))
  for (const id of ids) {
    await a.append([row(`before ${id}`)])
    let appended = Promise.resolve()
    await journal('b').adopt(allEnded, (rows) => {
      appended = a.append([row(id)])
      return write(rows)
    })
    await appended
  }
  await a.replay(write)
  t.same(new Set(written), new Set(ids.flatMap((id) => [id, `before ${id}`])))
})

t.test('if an adopter cannot write the rows of a file, the file is adopted again', async (t) => {
  const { folder, journal, written, write } = setup(t)
  const a = journal('a')
  await a.append([row('1')])
  const refused = () => Promise.reject(new Error('away'))
  await t.rejects(journal('b').adopt(allEnded, refused), /away/)
  t.same(readdirSync(folder), ['a.jsonl'], 'it has its name again')
  const b = journal('b')
  const adoption = b.adopt(allEnded, async () => {
    await a.append([row('2')])
    throw new Error('away')
  })
  await t.rejects(adoption, /away/)
  t.same(readdirSync(folder).sort(), ['a.b.jsonl', 'a.jsonl'], 'its author has begun another file meanwhile')
  await b.adopt((id) => Promise.resolve(id === 'a'), write)
  t.same(written, ['1'])
  await journal('c').adopt(allEnded, write)
  t.same(written, ['1', '2'])
  t.same(readdirSync(folder), [])
})

t.test('if the process that adopts a journal file seems to have ended, another process adopts the file', async (t) => {
  const { folder, journal, written, write } = setup(t)
  await journal('a').append([row('1')])
  await journal('b').adopt(allEnded, () => journal('c').adopt(allEnded, write))
  t.same(written, ['1'])
  t.same(readdirSync(folder), [])
})
