// Imported before tap. tap follows each promise and callback through async hooks, only to know which test has thrown an
// uncaught error. In tests of a whole product this costs a fifth of the processor time, so hooks are not enabled here,
// and suite-process.mjs handles uncaught errors.
import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const inert = { enable: () => inert, disable: () => inert }
hooks.createHook = () => inert
// Modules that import the function by its name get the new one.
syncBuiltinESMExports()
