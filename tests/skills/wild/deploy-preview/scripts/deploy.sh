#!/bin/sh
echo "https://preview.example/$1"
