/** The interface between the commands and the product. main.ts implements it; the commands themselves know only the public contract. */
import type { ParleyConfig } from '../generated/config/types.ts'
import type { Admin } from './admin.ts'

export type Check = { name: string; ok: boolean; detail: string; advice?: string }

/** The result of a catalog update. `before` and `after` are the dates of the two files. */
export type CatalogUpdate = {
  path: string
  before: string
  after: string
  models: number
  figures: number
  prices: number
}

/** The size of a backup, and the version of its schema. */
export type BackupResult = { schema: number; tables: number; rows: number }

/** A Parley that serves this data folder now. */
export type RunningInstance = { pid: number; url: string }

/**
 * The address that the commands send their requests to, and the key that they send. `keyFrom` is the option or the variable
 * that holds the key; `local` is the file of a first local run.
 */
export type Connection = { baseUrl: string; apiKey: string | null; keyFrom?: string }

/** Signs what the commands send to a receiver on this machine, as deliveries are signed. */
export type WebhookSigner = {
  /** The secret that the data folder keeps. Null: it was given, and is shown nowhere. */
  keptSecret: string | null
  headersOf(event: { id: string; body: string }): Record<string, string>
}

export type DemoSetting = {
  connection: Connection
  recording: { name: string; bytes: Uint8Array<ArrayBuffer> }
}

/** One provider as the configuration has it. */
export type ProviderOverview = {
  id: string
  adapter: string
  /** Null: the vendor's address, or a speech engine of this process. */
  baseUrl: string | null
  /** The reason why it cannot be called, or null. */
  unavailable: string | null
  /** The environment variable that is missing, if that is the reason. */
  missing: string | null
}

/** The configuration and the parts that `up` would make of it. */
export type CheckedConfig = {
  settings: ParleyConfig
  /** The file that was read; null for none. */
  file: string | null
  /** The engine that would serve, and why. */
  engine: string
  providers: readonly ProviderOverview[]
}

export type Actions = {
  version: string
  /** `ready` is called once the server takes requests. */
  up(ready: (connection: Connection) => void): Promise<void>
  /** Runs a separate instance on a free port. Its store is deleted when `run` has ended, or was interrupted. */
  demo(run: (setting: DemoSetting) => Promise<void>): Promise<void>
  doctor(): Promise<Check[]>
  /** Reads the configuration and checks that a server could start with it. Throws ConfigError. */
  config(): Promise<CheckedConfig>
  /** Sends SIGTERM to the running instance. Resolves with its pid when it is gone, or with null when none runs. */
  drain(): Promise<number | null>
  admin<Answer>(run: (admin: Admin) => Promise<Answer>): Promise<Answer>
  /** Makes the embedded database where it is missing, and brings the schema up to this version. */
  migrate(): Promise<{ schema: number }>
  /** Writes everything in the database into a file, also while instances serve. */
  backup(file: string): Promise<BackupResult>
  /** Reads such a file into a database without organizations. */
  restore(file: string): Promise<BackupResult & { createdAt: string }>
  /** Merges a newer catalog, from a path or a URL, over the one in force. A running Parley reads it at its next start. */
  updateCatalog(source: string): Promise<CatalogUpdate>
  connection(): Promise<Connection>
  /** Without a secret it signs with the one that the data folder keeps for this; the first call makes it. */
  webhookSigner(secret: string | undefined): Promise<WebhookSigner>
}
