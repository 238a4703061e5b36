import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// Of what needs no page; what does is tested in a browser, by tests/browser.
export default defineConfig({
  plugins: [svelte()],
  test: {
    include: ["tests/**/*.test.ts"],
    // A zone with summer time: one day of its year has 23 hours, and one 25.
    env: { TZ: "Europe/Berlin" },
  },
});
