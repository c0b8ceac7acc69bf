/** Sockets between processes on one machine have short paths, however long their folders' paths are. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { makeSocketFolder, socketPath } from '../../runtime/engine/relay/folder.ts'
import { freshDataDir } from '../installation.ts'

/** Linux allows 107 bytes, and macOS 103. */
const pathBytesMax = 103
const name = 'ehxFqLAQXgrpE-jrEz1jt'

for (const [what, temporary] of [
  ['the data folder', '/tmp'],
  ['the data folder and the temporary folder', `/tmp/${'t'.repeat(80)}`],
] as const)
  t.test(`a relay socket works if ${what} has a long path`, (t) => {
    const before = process.env['TMPDIR']
    const base = freshDataDir()
    const dataDir = path.join(base, 'd'.repeat(90))
    mkdirSync(dataDir, { recursive: true })
    process.env['TMPDIR'] = temporary
    const folder = makeSocketFolder(dataDir, name)
    t.teardown(() => {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
      for (const made of [base, folder]) rmSync(made, { recursive: true, force: true })
    })
    t.ok(Buffer.byteLength(socketPath(folder, name)) <= pathBytesMax, folder)
    t.end()
  })

t.test('a missing data folder is created', (t) => {
  const base = freshDataDir()
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  const dataDir = path.join(base, 'not', 'yet')
  t.equal(makeSocketFolder(dataDir, name), path.join(dataDir, 'sockets'))
  t.end()
})

t.test('if the data folder cannot be created or written, the sockets are in the temporary folder', (t) => {
  const base = freshDataDir()
  mkdirSync(base, { recursive: true })
  const file = path.join(base, 'file')
  writeFileSync(file, '')
  const folder = makeSocketFolder(path.join(file, 'data'), name)
  t.teardown(() => {
    for (const made of [base, folder]) rmSync(made, { recursive: true, force: true })
  })
  t.equal(makeSocketFolder(path.join(file, 'data'), name), folder, 'the same one for each process')
  t.ok(existsSync(folder))
  t.notMatch(folder, base)
  t.end()
})
