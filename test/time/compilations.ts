/**
 * Counts the WebAssembly modules that `WebAssembly.compile` compiles on V8's threads. Nothing else in the process shows
 * this work. Node's fetch compiles its parser for the first request.
 */
export type Compilations = { readonly pending: number }

export function watchCompilations(): Compilations {
  let pending = 0
  const { compile } = WebAssembly
  WebAssembly.compile = async (...given) => {
    pending += 1
    try {
      return await compile(...given)
    } finally {
      pending -= 1
    }
  }
  return {
    get pending() {
      return pending
    },
  }
}
