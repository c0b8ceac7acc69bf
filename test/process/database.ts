/** Opens a running Parley's database, without any Parley code. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import postgres from 'postgres'

/** The data folder of a program with an embedded Postgres, or a server with a database address. */
export type DatabaseOf = string | { databaseUrl: string }

/**
 * Connects with Parley's role, which is not a superuser, and sees every organization and both worlds. The caller ends
 * it.
 */
export function openDatabase(of: DatabaseOf): postgres.Sql {
  const url = new URL(databaseUrlOf(of))
  return postgres({
    host: url.searchParams.get('host') ?? '',
    database: url.pathname.slice(1),
    username: 'parley',
    max: 1,
    onnotice: () => {},
    connection: { 'app.organization': '*', 'app.world': '*' },
  })
}

/** Null: no server uses the folder, or its server died. */
export function postgresPid(dataDir: string): number | null {
  try {
    return Number(lockFile(dataDir)[0])
  } catch {
    return null
  }
}

/** DATABASE_URL of a running Parley. */
export function databaseUrlOf(of: DatabaseOf): string {
  if (typeof of !== 'string') return of.databaseUrl
  return `postgres://parley@localhost/parley?host=${encodeURIComponent(socketDir(of))}`
}

export function socketDir(dataDir: string): string {
  const [, , , , folder = ''] = lockFile(dataDir)
  return folder
}

/** postmaster.pid: line 1 is the process, line 5 its socket's folder. */
function lockFile(dataDir: string): string[] {
  return readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')
}
