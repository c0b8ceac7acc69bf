/** The clock of a whole product waits for Postgres, files and sockets. */

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { TestClock } from '../clock.ts'
import { openDatabase } from '../process/database.ts'
import { TestCluster } from '../store/cluster.ts'
import { wholeProcess } from './quiet.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('for the test clock a process is not idle while Postgres runs statements, connects or notifies', async (t) => {
  const sql = openDatabase({ databaseUrl: await cluster.database() })
  const other = openDatabase({ databaseUrl: await cluster.database() })
  t.teardown(() => Promise.all([sql.end(), other.end()]))
  let done = 0
  const over = () => void done++
  void sql`select pg_sleep(0.2)`.then(over)
  await wholeProcess.settled()
  t.equal(done, 1, 'over a connection that opens first')
  void sql
    .begin(async (tx) => {
      await tx`select pg_sleep(${0.05}::float8)`
      await tx`select 1`
    })
    .then(over)
  void other`select ${1}::int`.then(over)
  await wholeProcess.settled()
  t.equal(done, 3)
  await sql.listen('told', over)
  const before = wholeProcess.changes()
  void sql.notify('told', 'of it').then(over)
  await wholeProcess.settled()
  t.equal(done, 5, 'the notification has come too')
  t.ok(wholeProcess.changes() > before)
  void sql`select no_such_column`.catch(over)
  await wholeProcess.settled()
  t.equal(done, 6, 'also after a failure')
})

t.test('for the test clock a process is not idle during requests, file access and event loop work', async (t) => {
  const server = createServer((_request, response) => setTimeout(() => response.end('here'), 5))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const done: string[] = []
  void fetch(`http://127.0.0.1:${port}`)
    .then((answer) => answer.text())
    .then((text) => done.push(text))
  void readFile(import.meta.filename).then(() => done.push('file'))
  setImmediate(() => setImmediate(() => setImmediate(() => setImmediate(() => done.push('turns')))))
  await wholeProcess.settled()
  t.same(done.sort(), ['file', 'here', 'turns'])
})

t.test('a test clock of a whole server does not move while Postgres runs a query', async (t) => {
  const sql = openDatabase({ databaseUrl: await cluster.database() })
  t.teardown(() => sql.end())
  const clock = new TestClock({ quiet: wholeProcess })
  let isLate = false
  clock.after(10, () => {
    isLate = true
  })
  await clock.during(sql`select pg_sleep(0.1)`)
  t.notOk(isLate)
})
