/** Opens a running Parley's database without any Parley code. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import postgres from 'postgres'

/** The data folder for a program with an embedded Postgres, or a server with a database URL. */
export type DatabaseOf = string | { databaseUrl: string }

/**
 * Connects with Parley's role, which is not a superuser, and sees every organization's live and test rows. The caller
 * ends the connection.
 */
export const openDatabase = (of: DatabaseOf): postgres.Sql => openAs('parley', of)

/** Connects with the superuser, who can switch off foreign keys. The caller ends the connection. */
export const openAsSuperuser = (of: DatabaseOf): postgres.Sql => openAs('postgres', of)

function openAs(username: string, of: DatabaseOf): postgres.Sql {
  const url = new URL(databaseUrlOf(of))
  return postgres({
    host: url.searchParams.get('host') ?? '',
    database: url.pathname.slice(1),
    username,
    max: 1,
    onnotice: () => {},
    connection: { 'app.organization': '*', 'app.world': '*' },
  })
}

/** Returns the process id of the folder's Postgres. Null if no server uses the folder, or if its server died. */
export function postgresPid(dataDir: string): number | null {
  try {
    return Number(lockFile(dataDir)[0])
  } catch {
    return null
  }
}

/** Returns a running Parley's DATABASE_URL. */
export function databaseUrlOf(of: DatabaseOf): string {
  if (typeof of !== 'string') return of.databaseUrl
  return `postgres://parley@localhost/parley?host=${encodeURIComponent(socketDir(of))}`
}

export function socketDir(dataDir: string): string {
  const [, , , , folder = ''] = lockFile(dataDir)
  return folder
}

/** Reads the lines of postmaster.pid: line 1 has the process id, and line 5 the folder with the socket. */
function lockFile(dataDir: string): string[] {
  return readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')
}
