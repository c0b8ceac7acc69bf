/** onnxruntime-node 1.16.3 names a file of types in its package.json that it does not ship. */
declare module 'onnxruntime-node' {
  export * from 'onnxruntime-common'
}
