/**
 * A real browser for page tests: the machine's Chromium, or Debian's if it may be installed, driven by playwright-core.
 * playwright-core is installed in this folder, so the product does not depend on it. If Chromium or playwright-core is
 * missing, the test is skipped and does not fail.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'

/** The parts of playwright-core used by the tests. */
export type Frame = { payload: string | Buffer }
export type PageSocket = {
  url(): string
  on(event: 'framereceived' | 'framesent', listener: (frame: Frame) => void): void
}
export type Page = {
  goto(url: string): Promise<unknown>
  content(): Promise<string>
  click(selector: string): Promise<void>
  fill(selector: string, value: string): Promise<void>
  textContent(selector: string): Promise<string | null>
  isVisible(selector: string): Promise<boolean>
  selectOption(selector: string, value: string): Promise<unknown>
  setInputFiles(selector: string, file: string): Promise<void>
  keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
  addInitScript(script: string): Promise<void>
  route(url: RegExp, handle: (route: Route) => unknown): Promise<void>
  /** Answers a page's socket in place of the server. */
  routeWebSocket(url: RegExp, answer: (socket: AnsweredSocket) => void): Promise<void>
  url(): string
  goBack(): Promise<unknown>
  reload(): Promise<unknown>
  waitForEvent(event: 'download'): Promise<{ path(): Promise<string>; suggestedFilename(): string }>
  waitForEvent(event: 'response'): Promise<{ finished(): Promise<unknown> }>
  waitForResponse(url: RegExp, options: { timeout: number }): Promise<unknown>
  /** Runs a string as a script in the page. The page's content security policy does not stop it. */
  evaluate(script: string): Promise<unknown>
  evaluate<T, A>(run: (argument: A) => T | Promise<T>, argument: A): Promise<T>
  waitForSelector(selector: string, options: { timeout: number; state?: 'attached' | 'detached' }): Promise<unknown>
  waitForURL(url: RegExp, options: { timeout: number }): Promise<void>
  /** The page's clock. If it is installed before the page is opened, `fastForward` makes timers due. */
  clock: { install(): Promise<void>; fastForward(ms: number): Promise<void> }
  setViewportSize(size: { width: number; height: number }): Promise<void>
  emulateMedia(media: { colorScheme: 'light' | 'dark' }): Promise<void>
  screenshot(options: { path: string; fullPage: boolean }): Promise<unknown>
  on(event: 'request', listener: (request: { url(): string; method(): string }) => void): void
  on(event: 'response', listener: (response: { url(): string; text(): Promise<string> }) => void): void
  on(event: 'websocket', listener: (socket: PageSocket) => void): void
  on(event: 'pageerror', listener: (error: Error) => void): void
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): void
}
export type AnsweredSocket = {
  send(frame: string): void
  onMessage(listener: (frame: string | Buffer) => void): void
}
/** A request answered by the test. */
export type Route = {
  request(): { url(): string; postData(): string | null }
  fulfill(answer: { status: number; contentType: string; body: string }): Promise<void>
  continue(): Promise<void>
  /** Lets the server answer the test. */
  fetch(): Promise<{ json(): Promise<unknown> }>
  /** Fails the request, as if the server did not answer. */
  abort(): Promise<void>
}
export type ContextOptions = {
  permissions: string[]
  viewport?: { width: number; height: number }
  colorScheme?: 'light' | 'dark'
  reducedMotion?: 'reduce'
  javaScriptEnabled?: boolean
  timezoneId?: string
}
export type Browser = {
  newContext(options: ContextOptions): Promise<Context>
  close(): Promise<void>
}
type Cookie = { name: string; value: string; url: string }
type Context = { newPage(): Promise<Page>; addCookies(cookies: Cookie[]): Promise<void>; close(): Promise<void> }
type Playwright = {
  chromium: { launch(options: { executablePath: string; headless: boolean; args: string[] }): Promise<Browser> }
}

export const otherHost = 'parley.test'

/**
 * Returns axe's accessibility findings in the open page, each with its elements. The rules are from WCAG and good
 * practice.
 */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(path.join(folder, 'node_modules/axe-core/axe.min.js'), 'utf8'))
  const faults = await page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.map(({ html }) => html).join(' ')))`)
  return faults as string[]
}

const run = promisify(execFile)
const folder = import.meta.dirname
const installMs = 300_000

/** Opens a browser whose microphone plays `wavFile` once. Without a browser, returns the reason. */
export async function openChromium(wavFile: string): Promise<Browser | { missing: string }> {
  const executablePath = findChromium() ?? (await installChromium())
  if (executablePath === null) return { missing: 'no chromium in PATH, and apt-get cannot install one' }
  try {
    if (!['playwright-core', 'axe-core'].every((name) => existsSync(path.join(folder, 'node_modules', name))))
      await run('npm', ['ci', '--ignore-scripts', '--no-progress'], { cwd: folder, timeout: installMs })
  } catch (error) {
    return { missing: `playwright-core and axe-core cannot be installed: ${(error as Error).message.split('\n')[0]}` }
  }
  const { chromium } = createRequire(import.meta.url)('playwright-core') as Playwright
  return chromium.launch({ executablePath, headless: true, args: [...quiet, ...microphone(wavFile), ...sandbox()] })
}

/** Flags that stop the browser's requests to its maker. */
const quiet = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
  '--disable-gpu',
  // A name for this machine. The browser does not treat it as loopback.
  `--host-resolver-rules=MAP ${otherHost} 127.0.0.1`,
]

const microphone = (wavFile: string) => [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  `--use-file-for-fake-audio-capture=${wavFile}%noloop`,
]

/** Turns the sandbox off for root, because Chromium refuses to run as root inside its sandbox. */
const sandbox = () => (process.getuid?.() === 0 ? ['--no-sandbox'] : [])

function findChromium(): string | null {
  const folders = (process.env['PATH'] ?? '').split(':')
  const places = folders.flatMap((folder) =>
    ['chromium', 'chromium-browser', 'google-chrome'].map((name) => path.join(folder, name)),
  )
  return places.find((place) => existsSync(place)) ?? null
}

async function installChromium(): Promise<string | null> {
  if (process.getuid?.() !== 0) return null
  // Another test file may install Chromium at the same time, so apt-get waits for the lock.
  const wait = ['-o', `DPkg::Lock::Timeout=${installMs / 1000}`]
  try {
    await run('apt-get', [...wait, 'install', '-y', '--no-install-recommends', 'chromium'], { timeout: 2 * installMs })
  } catch {
    return null
  }
  return findChromium()
}
