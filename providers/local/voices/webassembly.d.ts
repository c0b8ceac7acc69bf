/** The part of WebAssembly that is used here, since TypeScript declares it only in the library for browsers. */
declare namespace WebAssembly {
  class Module {
    private constructor()
  }
  class RuntimeError extends Error {}
  interface Memory {
    readonly buffer: ArrayBuffer
  }
  interface Instance {
    readonly exports: Readonly<Record<string, unknown>>
  }
  function compile(bytes: Uint8Array): Promise<Module>
  function instantiate(
    module: Module,
    imports: Record<string, Record<string, (...args: never[]) => unknown>>,
  ): Promise<Instance>
}
