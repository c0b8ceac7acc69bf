/** The console's sign-in: its rules, store and mails, and the server's facts for its pages. */
import { createInvitations, type Invitations } from '../domain/access/sign-in/invitations.ts'
import { createLockOut } from '../domain/access/sign-in/lock-out.ts'
import { createOidcSignIn } from '../domain/access/sign-in/oidc.ts'
import { createPost } from '../domain/access/sign-in/post.ts'
import { createResets } from '../domain/access/sign-in/resets.ts'
import { createStateSeal } from '../domain/access/sign-in/sealed-state.ts'
import { isSetupCode, setupCodeOf } from '../domain/access/sign-in/setup-code.ts'
import { createSignIn } from '../domain/access/sign-in/sign-in.ts'
import { createSigner } from '../domain/access/signer.ts'
import type { Mailer } from '../domain/ports/mailer.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import { type ConsoleHandlers, consoleHandlers } from '../handlers/console/handlers.ts'
import { createOidcProvider } from '../providers/oidc/oidc-provider.ts'
import { createSmtpMailer } from '../providers/smtp/mailer.ts'
import { ConfigError, type Environment, secretOf } from '../runtime/process/config.ts'
import { Owners } from '../runtime/shares/owners.ts'
import { WorkQueue } from '../runtime/shares/work-queue.ts'
import { createPasswordHasher } from '../runtime/values/password-hash.ts'
import { version } from '../runtime/version.ts'
import type { App } from './app.ts'
import { isReachedHereOnly } from './first-run.ts'

type Needs = Pick<App, 'config' | 'env' | 'store' | 'clock' | 'secrets' | 'log' | 'localUrl'>

export type Console = { isEnabled: boolean; handlers: ConsoleHandlers; invitations: Invitations }

export function createConsole({ config, env, store, clock, secrets, log, localUrl }: Needs): Console {
  const { people, personSessions: sessions, signInAttempts, signInFailures: failures, passwordResets: resets } = store
  const { masterKey } = secrets
  const hashes = createPasswordHasher(hashQueueOf(config))
  const lockOut = createLockOut(signInAttempts, createSigner(masterKey, 'sign-in attempts v1'), clock)
  const { sessionS } = config.console
  const isCode = (code: string) => isSetupCode(masterKey, code)
  const signIn = createSignIn({
    ...{ people, sessions, hashes, lockOut, failures, clock, log, sessionS },
    isSetupCode: isCode,
  })
  const mailer = mailerOf(config)
  const post = createPost({ mailer, lockOut, log })
  // The Host header is not used, because its sender could then choose where a link in a mail leads.
  const shared = { hashes, post, clock, baseUrl: () => config.publicUrl ?? localUrl() }
  const invitations = createInvitations({ ...shared, invitations: store.invitations, signIn })
  const handlers = consoleHandlers({
    signIn,
    people,
    sessions,
    resets: createResets({ ...shared, resets, lockOut, log }),
    invitations,
    oidc: createOidcSignIn({
      providers: oidcProvidersOf(config, env, clock),
      people: store.oidcPeople,
      sessions,
      seal: createStateSeal(masterKey),
      clock,
      log,
      sessionS,
      baseUrl: shared.baseUrl,
    }),
    server: {
      version,
      region: config.region,
      simulatedCarrier: config.carrier.adapter === 'simulator',
      smtp: mailer !== null,
    },
    isSecure: config.publicUrl?.startsWith('https:') ?? false,
    isReachedHereOnly: isReachedHereOnly(config),
  })
  return { isEnabled: config.console.enabled, handlers, invitations }
}

/** Network addresses share the queue, so it has several owners on every server. */
function hashQueueOf({ limits }: ParleyConfig): WorkQueue {
  const { organizationShare: part, passwordHashesMax: runningMax, passwordHashesQueueMax: waitingMax } = limits
  return new WorkQueue({ runningMax, waitingMax }, { owners: new Owners(true), part })
}

function oidcProvidersOf({ oidc }: ParleyConfig, env: Environment, clock: App['clock']) {
  return oidc.map(({ domains = [], organization = null, role = 'viewer', scopes = [], clientSecret, ...provider }) => ({
    provider: createOidcProvider({ ...provider, scopes, clientSecret: clientSecretOf(clientSecret, env) }, clock),
    joining: { domains, organizationId: organization, role },
  }))
}

/** Returns the secret from the settings, or from the environment variable in `env:NAME`. */
function clientSecretOf(setting: string, env: Environment): string {
  const [, name] = /^env:(\w+)$/.exec(setting) ?? []
  if (name === undefined) return setting
  const secret = secretOf(env, name)
  if (secret === undefined) throw new ConfigError(`oidc: ${name} is not set`)
  return secret
}

/** Returns null if no mail server is set. `checkServing` has checked that there is a sender. */
function mailerOf({ smtp: { host, from, ...settings } }: ParleyConfig): Mailer | null {
  return host === null || from === null ? null : createSmtpMailer({ ...settings, host, from })
}

/**
 * Returns the code that lets a person make the console's first account. Null if an account exists, the console is off,
 * or only this machine reaches the server.
 */
export async function consoleSetupCode({
  config,
  store,
  secrets,
}: Pick<Needs, 'config' | 'store' | 'secrets'>): Promise<string | null> {
  if (!config.console.enabled || isReachedHereOnly(config) || !(await store.people.isEmpty())) return null
  return setupCodeOf(secrets.masterKey)
}
