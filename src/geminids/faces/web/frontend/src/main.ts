import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";

import { mount } from "svelte";

import App from "./App.svelte";
import { startTheme } from "./lib/theme";

startTheme();

const place = document.getElementById("app");
if (place) mount(App, { target: place });
