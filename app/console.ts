/** The console's sign-in: its rules, its store and the server's facts that its pages show. */
import { createLockOut } from '../domain/access/sign-in/lock-out.ts'
import { isSetupCode, setupCodeOf } from '../domain/access/sign-in/setup-code.ts'
import { createSignIn } from '../domain/access/sign-in/sign-in.ts'
import { createSigner } from '../domain/access/signer.ts'
import { type ConsoleHandlers, consoleHandlers } from '../handlers/console/handlers.ts'
import { createPasswordHasher } from '../runtime/values/password-hash.ts'
import { version } from '../runtime/version.ts'
import type { App } from './app.ts'
import { isReachedHereOnly } from './first-run.ts'

type Needs = Pick<App, 'config' | 'store' | 'clock' | 'secrets'>

export function createConsole({ config, store, clock, secrets }: Needs): {
  isEnabled: boolean
  handlers: ConsoleHandlers
} {
  const { people, personSessions: sessions, signInAttempts } = store
  const { masterKey } = secrets
  const signIn = createSignIn({
    people,
    sessions,
    hashes: createPasswordHasher(),
    lockOut: createLockOut(signInAttempts, createSigner(masterKey, 'sign-in attempts v1'), clock),
    clock,
    sessionS: config.console.sessionS,
    isSetupCode: (code) => isSetupCode(masterKey, code),
  })
  const handlers = consoleHandlers({
    signIn,
    people,
    sessions,
    server: { version, region: config.region, simulator: config.publicUrl === null, smtp: false },
    isSecure: config.publicUrl?.startsWith('https:') ?? false,
    isReachedHereOnly: isReachedHereOnly(config),
  })
  return { isEnabled: config.console.enabled, handlers }
}

/**
 * Returns the code with which the console's first person is made. Null if a person exists, the console is off, or only
 * this machine reaches the server.
 */
export async function consoleSetupCode({ config, store, secrets }: Omit<Needs, 'clock'>): Promise<string | null> {
  if (!config.console.enabled || isReachedHereOnly(config) || !(await store.people.isEmpty())) return null
  return setupCodeOf(secrets.masterKey)
}
