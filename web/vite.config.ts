import { defineConfig } from "vite";

// Everything by relative addresses: the folder works wherever it is put.
export default defineConfig({
  base: "./",
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1500 },
  worker: { format: "es" },
  server: { fs: { allow: [".."] } },
});
