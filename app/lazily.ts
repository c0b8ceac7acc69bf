/** Opens an object at its first use: the simulated carrier starts with the first request to it. */

/** The object to open. All its methods must be asynchronous. */
export type Closeable = { close(): Promise<void> }

/**
 * Returns an object with the methods `names`. Each method first opens the real object. If this fails, the next call
 * tries again. `close` closes the opened object, and opens nothing.
 */
export function lazily<T extends Closeable, Name extends Exclude<keyof T, 'close'>>(
  names: readonly Name[],
  open: () => Promise<T>,
): Pick<T, Name> & Closeable {
  let opened: Promise<T> | null = null
  const target = () => {
    opened ??= open()
    opened.catch(() => {
      opened = null
    })
    return opened
  }
  const methods = names.map((name) => [name, async (...args: unknown[]) => callOf(await target(), name)(...args)])
  return {
    ...(Object.fromEntries(methods) as Pick<T, Name>),
    close: async () => void (await (await opened)?.close()),
  }
}

function callOf<T>(target: T, name: keyof T): (...args: unknown[]) => unknown {
  return (target[name] as (...args: unknown[]) => unknown).bind(target)
}
