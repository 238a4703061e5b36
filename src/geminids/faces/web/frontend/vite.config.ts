import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: "../built",
    emptyOutDir: true,
    target: "es2023",
    cssTarget: ["chrome123", "firefox125", "safari17.5"],
    // The policy of the page allows files of ours alone: nothing may be put into an address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
